"""The option ``--gradhook`` of pytest; pytest loads this file in every run, so it must cost nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--gradhook``."""
    words = "Check the derivatives that are claimed in the files given, an item for each claim (gradhook)."
    parser.getgroup("gradhook").addoption("--gradhook", action="store_true", default=False, help=words)


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin with ``--gradhook`` only."""
    if config.getoption("--gradhook"):
        from gradhook.pytest_plugin.items import ClaimPlugin

        config.addinivalue_line("markers", "gradhook: a derivative that is claimed, checked by gradhook.")
        config.pluginmanager.register(ClaimPlugin(config), "gradhook-claims")
