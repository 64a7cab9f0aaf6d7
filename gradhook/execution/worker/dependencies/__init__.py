"""What a result depends on: files, modules, environment variables."""
