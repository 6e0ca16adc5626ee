# SPDX-License-Identifier: MIT
"""The process of a launch: pytest, bound to its runner from the first moment.

`python -m frobench.suite.launch.entry RUNNER ARGUMENTS` passes the arguments to pytest; RUNNER is
the number of the runner's process.
"""

import ctypes
import gc
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
"""The option of `prctl` that names the signal for a parent's death (linux/prctl.h)."""


def main() -> None:
    """Run pytest, and end at once.

    To look for garbage through all that is imported takes a quarter of a second; to take torch
    apart object by object at the end would take half of one.
    """
    runner = int(sys.argv.pop(1))
    if sys.platform == "linux":  # elsewhere a launch looks before it writes
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != runner:  # which was killed before this process was bound to it
        sys.exit("the runner is gone")
    gc.disable()
    import pytest  # noqa: PLC0415 - the runner may be killed while these are imported

    _start_workers()
    code = pytest.main(plugins=[_Collected()])
    sys.stdout.flush()
    os._exit(code)


class _Collected:
    """Lets the search for garbage begin behind collection, and leave out what was imported."""

    def pytest_collection_finish(self) -> None:
        gc.freeze()
        gc.enable()


def _start_workers() -> None:
    """Start the workers that the launch needs: they import torch while benchmarks do."""
    from frobench.suite.kit.workers import HALVES, halves, start_early  # noqa: PLC0415 - as above
    from frobench.suite.machine.host import affinity, cores_in_use  # noqa: PLC0415 - as above
    from frobench.suite.plan import OPTION, read_spec  # noqa: PLC0415 - as above

    for argument in sys.argv:
        option, _, path = argument.partition("=")
        if option == OPTION:
            spec = read_spec(path)
            if any(HALVES in name for name in spec.order):
                start_early(halves(affinity()[: cores_in_use()]), spec.seed)


if __name__ == "__main__":
    main()
