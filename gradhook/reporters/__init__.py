"""How is a report written down? One file per format, each ``render(report, …) -> str``, without any IO."""
