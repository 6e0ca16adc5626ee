# SPDX-License-Identifier: MIT
"""An accelerator that exists only in time: its rates are known, so measurements can be judged.

It is a PyTorch backend of its own and arrives as any vendor's would, through the entry
point group ``torch.backends``: with this package's folder on ``PYTHONPATH`` (or installed),
``import torch`` is enough ::

    export PYTHONPATH=tests/instruments/simulated
    python -c "import torch; print(torch.ones(2, device='sim:1'))"

``TORCH_DEVICE_BACKEND_AUTOLOAD=0`` switches it off. What it is like is said by environment
variables, read once at import: ``SIM_SPEC`` holds any fields of `spec.Spec` as JSON,
and ``SIM_VISIBLE_DEVICES`` masks the devices (with another name in the specification, that name
takes the place of ``sim`` everywhere).

How it works. A launch costs the host a fixed time, which is waited out exactly, and returns;
the device's stream is then busy until a known moment. Synchronising waits for that moment.
Values are real, but they are computed on the CPU only when somebody reads them, so the CPU's own
work stays out of the times.
"""

from . import virtual
from .spec import Spec

__all__ = ["Spec", "autoload"]


def autoload() -> None:
    """Register the backend; PyTorch calls this once, at the end of ``import torch``."""
    if Spec.from_environment().virtual:
        virtual.install()
    # Not at the top: reading a specification needs no torch.
    from . import backend  # noqa: PLC0415

    backend.register()
