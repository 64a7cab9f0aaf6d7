"""What does ``python -m gradhook`` do? The same as ``gradhook``."""

from __future__ import annotations

from gradhook.cli.main import main

if __name__ == "__main__":
    main()
