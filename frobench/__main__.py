# SPDX-License-Identifier: MIT
"""`python -m frobench`."""

from frobench import main

if __name__ == "__main__":
    main(prog_name="frobench")
