"""Projects: their roots, settings, baselines, suppressions and migration."""
