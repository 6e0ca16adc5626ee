# SPDX-License-Identifier: MIT
"""What `nox -s bench` promises: the right torch, the report, and the run's own exit codes."""

import os
import signal
import subprocess
import sys
import sysconfig
import time
import venv
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

import noxfile

if TYPE_CHECKING:
    import nox

ROOT = Path(noxfile.__file__).parent
FAKE_TORCH = """
__version__ = "{version}"
class accelerator:
    is_available = staticmethod(lambda: {usable})
"""


def environment(folder: Path) -> tuple[str, Path]:
    """Make a virtual environment; return its interpreter and its site-packages."""
    venv.create(folder, symlinks=True)
    paths = {"base": str(folder), "platbase": str(folder)}
    scripts = Path(sysconfig.get_path("scripts", "venv", paths))
    return str(scripts / "python"), Path(sysconfig.get_path("purelib", "venv", paths))


def image(folder: Path, version: str = "2.12.0a0+vendor", *, usable: bool = True) -> str:
    """Make the Python of a vendor's image, with a torch of its own; return its interpreter."""
    python, site_packages = environment(folder)
    (site_packages / "torch.py").write_text(FAKE_TORCH.format(version=version, usable=usable))
    return python


def imported(python: str, module: str) -> str:
    """Return the version of a module that an interpreter imports, or how it fails."""
    code = f"import {module}; print({module}.__version__)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("version", "usable", "found"),
    [("2.12.0a0+vendor", True, True), ("2.10.1", True, False), ("2.13.0+cpu", False, False)],
    ids=["a vendor's", "too old", "sees no accelerator"],
)
def test_a_torch_that_sees_an_accelerator_is_found_where_the_pinned_one_is_not_better(
    tmp_path: Path, version: str, *, usable: bool, found: bool
) -> None:
    bare, _ = environment(tmp_path / "bare")
    lent = noxfile.lendable_torch([bare, image(tmp_path / "image", version, usable=usable)])
    assert (lent is not None and lent.version == version) == found


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX", "PATH"])
def test_the_torch_of_a_chosen_python_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    folder = Path(image(tmp_path)).parent
    monkeypatch.setattr(sys, "executable", environment(tmp_path / "nox")[0])
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PATH"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv(variable, str(folder if variable == "PATH" else tmp_path))
    found = noxfile.lendable_torch(noxfile._interpreters())
    assert found is not None
    assert found.version == "2.12.0a0+vendor"


@pytest.mark.parametrize("usable", [True, False])
def test_a_torch_that_was_reinstalled_for_the_driver_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, usable: bool
) -> None:
    python = Path(image(tmp_path, "2.12.1+cu126", usable=usable))
    monkeypatch.setattr(noxfile, "_interpreters", list)
    installed: list[str] = []
    session = SimpleNamespace(
        bin=str(python.parent),
        env={},
        install=lambda *needs: installed.extend(needs),
        log=lambda _: None,
        run=lambda _, *words, **__: subprocess.check_output([python, *words], text=True),
    )
    noxfile._install_with_torch_here(cast("nox.Session", session))
    assert any(need.startswith("torch") for need in installed) == (not usable)
    assert imported(str(python), "torch") == "2.12.1+cu126"


def test_torch_comes_from_the_image_and_all_else_from_the_environment(tmp_path: Path) -> None:
    vendor = image(tmp_path / "image")
    own, site_packages = environment(tmp_path / "own")
    torch = noxfile.lendable_torch([vendor])
    assert torch is not None
    (Path(torch.folders[-1]) / "numpy.py").write_text("__version__ = 'of the image'")
    (site_packages / "numpy.py").write_text("__version__ = 'pinned'")

    noxfile.borrow(torch, site_packages)

    assert imported(own, "torch") == "2.12.0a0+vendor"
    assert imported(own, "numpy") == "pinned"


STAND_IN = """#!{python}
import sys, time
def note(*words):
    with open({log!r}, "a") as log:
        print(*words, file=log)
try:
    note(*sys.argv[1:])
    time.sleep(60 if "wait" in sys.argv else 0)
except KeyboardInterrupt:
    time.sleep(1)  # saving what is finished takes a moment
    note("saved")
    sys.exit(130)
sys.exit(int(sys.argv[-1]) if "run" in sys.argv else 0)
"""


class Bench:
    """`nox -s bench` on an environment where a stand-in for `frobench` notes how it is called."""

    def __init__(self, folder: Path) -> None:
        self.envs = folder / "envs"
        self._log = folder / "log"
        self._log.touch()
        make = [
            sys.executable,
            "-m",
            "virtualenv",
            "--quiet",
            "--no-seed",
            str(self.envs / "bench"),
        ]
        subprocess.run(make, check=True)
        script = self.envs / "bench" / "bin" / "frobench"
        script.write_text(STAND_IN.format(python=sys.executable, log=str(self._log)))
        script.chmod(0o755)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start the session in a process group of its own, installing nothing."""
        nox = [sys.executable, "-m", "nox", "-f", str(ROOT / "noxfile.py"), "-R"]
        session = ["--envdir", str(self.envs), "-s", "bench", "--", *arguments]
        return subprocess.Popen([*nox, *session], start_new_session=True)

    def calls(self) -> list[str]:
        """Return how `frobench` was called so far."""
        return self._log.read_text().splitlines()


def test_a_failed_case_still_gets_its_report_and_fails_the_session(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert bench.start("--profile", "quick", "1").wait(60) == 1
    assert bench.calls() == ["run --profile quick 1", "report"]


def test_an_interrupted_run_has_time_to_save_and_the_session_exits_130(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    session = bench.start("wait")
    while not bench.calls():
        assert session.poll() is None, "the session ended before it called frobench"
        time.sleep(0.05)
    os.killpg(session.pid, signal.SIGINT)
    assert session.wait(60) == 130
    assert bench.calls() == ["run wait", "saved"]
