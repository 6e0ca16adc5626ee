# SPDX-License-Identifier: MIT
"""The command `frobench`, also as `python -m frobench`."""

import sys

from frobench.suite.exit_codes import CANNOT, absent, absent_module


def main() -> None:
    """Run the command, or say in one line which package it lacks."""
    try:
        from frobench.command import main as command  # noqa: PLC0415 - a package may be missing
    except ModuleNotFoundError as error:
        if (module := absent_module(error)) is None:
            raise
        sys.stderr.write(f"frobench: {absent(module)}\n")
        sys.exit(CANNOT)
    command(prog_name="frobench")


if __name__ == "__main__":
    main()
