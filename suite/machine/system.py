# SPDX-License-Identifier: MIT
"""The operating system, and whether it is a container's."""

import os
import platform
from contextlib import suppress
from pathlib import Path

from suite.machine.limits import ROOT
from suite.personal import private


def operating_system() -> str:
    """Return what the system calls itself, with its version."""
    with suppress(OSError):  # not Linux, or one that does not name itself
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    version = platform.mac_ver()[0]
    return f"macOS {version}" if version else f"{platform.system()} {platform.release()}"


def kernel() -> str:
    """Return the kernel's release; one that somebody built may have a name of theirs in it."""
    return private.hide(platform.release(), private.own_names(), version=True)


def in_container(root: Path = ROOT) -> bool | None:
    """Tell whether this is a container; `None` where that cannot be told."""
    if platform.system() != "Linux":
        return None
    marks = (root / ".dockerenv", root / "run/.containerenv")
    names = {"KUBERNETES_SERVICE_HOST", "container"}  # Kubernetes; systemd's word for others
    return any(mark.exists() for mark in marks) or not names.isdisjoint(os.environ)
