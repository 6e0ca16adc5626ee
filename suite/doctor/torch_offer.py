# SPDX-License-Identifier: MIT
"""What the installed torch offers, asked where it is imported anyway or in a process of its own.

As a script it prints the offer as JSON. It imports nothing of the suite, so that it starts quickly.
"""

import gc
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

START_LOCALLY = "https://pytorch.org/get-started/locally/"
"""Where PyTorch tells which of its builds suits a machine."""
PATIENCE = 60.0
"""Seconds until a torch that does not answer is given up."""


class Offer(msgspec.Struct, frozen=True):
    """What the installed torch offers.

    version : `None` where torch cannot be imported; `builds` then says why
    builds : version of what the build is for, such as `{"CUDA": "13.0"}`
    devices : accelerators that it can use
    architectures : those of NVIDIA's GPUs that it was built for, such as `sm_90`
    names : those of the devices, by what torch calls each, such as `xpu:0`
    refusal : what torch says where it can use none
    """

    version: str | None
    builds: dict[str, str | None]
    devices: int = 0
    architectures: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    refusal: str | None = None


class Asking:
    """A process that imports torch meanwhile; a torch that hangs or crashes stays there."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - the script below
            [sys.executable, "-P", __file__], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def answer(self) -> Offer:
        """Return what the process found."""
        try:
            out, _ = self._process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            return Offer(None, {"error": f"it does not answer within {PATIENCE:g} s"})
        if (code := self._process.returncode) or not out:
            return Offer(None, {"error": f"its process ended with code {code}"})
        return msgspec.json.decode(out, type=Offer)


def ask_torch() -> Offer:
    """Import torch, if it can be, and ask what it is built for and what it sees."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it warns of is what is looked into here
        try:
            import torch  # noqa: PLC0415 - it takes a second, or is not there
        except Exception as error:  # noqa: BLE001 - a backend that it loads may raise anything
            cause = error.__cause__
            why = f" ({type(cause).__name__}: {cause})" if cause else ""
            return Offer(None, {"error": f"{error}{why}"})
        kind = torch.accelerator.current_accelerator()
        devices, refusal = _usable(torch, kind) if kind else (0, None)
        named = str(kind and kind.type)
        return Offer(
            version=str(torch.__version__),
            builds={
                "CUDA": torch.version.cuda,
                "ROCm": torch.version.hip,
                "XPU": torch.version.xpu,
                "MPS": "built in" if torch.backends.mps.is_built() else None,
            },
            devices=devices,
            architectures=tuple(torch.cuda.get_arch_list()) if torch.version.cuda else (),
            names=tuple(_names(torch, named, devices)),
            refusal=refusal,
        )


def _usable(torch: Any, kind: Any) -> tuple[int, str | None]:  # noqa: ANN401 - the module, a device
    """Count the accelerators that torch can use; return also what it says where it can use none.

    Before torch initialises CUDA, it counts what NVML lists, whether or not CUDA can use it.
    """
    try:
        getattr(torch.get_device_module(kind), "init", bool)()  # few backends lack it
        return torch.accelerator.device_count() if torch.accelerator.is_available() else 0, None
    except Exception as error:  # noqa: BLE001 - as above
        return 0, str(error).partition("\n")[0]


def _names(torch: Any, kind: str, count: int) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - the module
    for index in range(count):
        with suppress(AttributeError, NotImplementedError, RuntimeError, TypeError):
            yield f"{kind}:{index}", str(torch.get_device_module(kind).get_device_name(index))


if __name__ == "__main__":
    gc.disable()  # there is little garbage among what is imported
    with os.fdopen(os.dup(1), "wb") as answer:
        os.dup2(2, 1)  # what torch and its backends print is no answer
        answer.write(msgspec.json.encode(ask_torch()))
