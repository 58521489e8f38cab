"""`python -m toolcrib`: the command line."""

import sys
from importlib import import_module


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(import_module("toolcrib.faces.cli.app").run(sys.argv[1:]))


if __name__ == "__main__":
    main()
