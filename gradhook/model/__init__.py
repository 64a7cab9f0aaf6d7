"""Records of a run: results, report, traces, plots, messages and errors."""
