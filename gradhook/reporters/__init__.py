"""Reports in each format, one file per format with ``render(report, …) -> str``, without any IO."""
