#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# /// script
# dependencies = ["nox>=2026.10"]
# ///
"""What one does with Frobench, by verb: `nox --list` names the verbs, `nox -s VERB` does one.

Every session installs with pip into a virtual environment of its own, so the index and
the wheels that pip is configured for are used; `constraints.txt` says which versions.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import nox
from nox.command import CommandFailed
from packaging.requirements import Requirement
from packaging.version import Version

nox.needs_version = ">=2026.10"
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_venv = "yes"

ROOT = Path(__file__).parent
PROJECT: dict[str, Any] = nox.project.load_toml(ROOT / "pyproject.toml")
NEEDS = {Requirement(need).name: need for need in PROJECT["project"]["dependencies"]}
PINS = ("-c", str(ROOT / "constraints.txt"))

A_CASE_FAILED = 1
"""Exit code of `frobench run` when everything was measured and a case failed."""

PATIENCE = 60.0
"""Seconds that an interrupted run is given to save what it finished."""


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Measure this machine and write the report; what follows `--` goes to `frobench run`."""
    if sys.platform == "win32":  # before anything is downloaded
        session.error("measuring needs Linux or macOS; on Windows, use WSL2")
    _install_with_torch_here(session)
    failed = False
    try:
        session.run("frobench", "run", *session.posargs, interrupt_timeout=PATIENCE)
    except CommandFailed as error:
        failed = error.return_code == A_CASE_FAILED
        if not failed:  # nox would make every failure a 1
            raise SystemExit(error.return_code) from None
    session.run("frobench", "report")
    if failed:
        session.error("a case failed; the report says which, and why")


@nox.session(default=False)
def report(session: nox.Session) -> None:
    """Write pages from stored runs: from `results/`, or from the paths behind `--`."""
    _install(session, torch=False)
    session.run("frobench", "report", *session.posargs)


@nox.session(default=False)
def compare(session: nox.Session) -> None:
    """Say for each case which of two stored runs is faster: `nox -s compare -- BASE NEW`."""
    _install(session, torch=False)
    session.run("frobench", "compare", *session.posargs)


@nox.session(default=False)
def validate(session: nox.Session) -> None:
    """Check stored runs: those of `results/`, or the paths behind `--`."""
    _install(session, torch=False)
    session.run("frobench", "validate", *(session.posargs or ["results"]))


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests; what follows `--` goes to pytest (`-- --cov` shows what they reach)."""
    _install(session, "tests")
    _run_tests(session)


@nox.session(default=False)
def gpu(session: nox.Session) -> None:
    """Run the tests that need an NVIDIA GPU, one at a time; what follows `--` goes to pytest."""
    _install_with_torch_here(session, "tests")
    session.run("pytest", "tests/gpu", "-n0", *session.posargs)


@nox.session(default=False)
def browser(session: nox.Session) -> None:
    """Look at the pages in Chromium as readers do; what follows `--` goes to pytest."""
    _install(session, "browser", torch=False)
    at_once = ("--numprocesses=logical", "--maxprocesses=4")
    session.run("pytest", "tests/browser", *at_once, *session.posargs)


@nox.session(default=False)
def cluster(session: nox.Session) -> None:
    """Measure nodes that are started on this machine; what follows `--` goes to pytest."""
    _install(session, "tests", "cluster")
    session.run("pytest", "tests/cluster", *session.posargs, env={"OMP_WAIT_POLICY": "PASSIVE"})


@nox.session(default=False)
def notebook(session: nox.Session) -> None:
    """Execute the notebook for a rented GPU here; what follows `--` goes to pytest."""
    _install(session, "tests", "notebook")
    session.run("pytest", "tests/notebook", "-n0", *session.posargs)


@nox.session(default=False)
def screenshots(session: nox.Session) -> None:
    """Write `docs/example` anew, and take the pictures of the pages that the documents show."""
    _install(session, "browser", torch=False)
    session.run("python", "-m", "tests.browser.screenshots")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, format, the arrows between packages and the project's set-up."""
    session.install(*PINS, *_group("lint"))
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    with TemporaryDirectory() as folder, session.chdir(folder):
        copy_packages(ROOT, Path(folder))
        session.run("lint-imports", "--config", str(ROOT / "pyproject.toml"))
    session.run("sp-repo-review", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check the types, strictly."""
    _install(session, "types")
    session.run("mypy")


@nox.session
def scripts(session: nox.Session) -> None:
    """Check the types of the pages' scripts with TypeScript, where Node is."""
    if not shutil.which("npm"):
        session.skip("no Node is here, so the types of the pages' scripts are not checked")
    session.chdir(ROOT / "tests" / "browser" / "types")
    session.run("npm", "ci", "--no-audit", "--no-fund", external=True)
    session.run("npx", "--no-install", "tsc", external=True)


@nox.session(default=False)
def calibrate(session: nox.Session) -> None:
    """Measure how often the harness errs, and write it into `docs/`; `-- --quick` looks."""
    _install(session)
    session.run("python", "-m", "studies.calibration", *session.posargs)


@nox.session(default=False)
def peers(session: nox.Session) -> None:
    """Time the same bodies by other tools too, and write `docs/peers.*`; `-- --quick` looks."""
    _install(session, "peers")
    session.run("python", "-m", "studies.peers", *session.posargs)


@nox.session(default=False)
def faults(session: nox.Session) -> None:
    """Try to break runs and readers, and write `docs/faults.*`; `-- --short` looks."""
    _install(session, "tests")
    session.run("python", "-m", "studies.faults", *session.posargs)


@nox.session(default=False)
def mutation(session: nox.Session) -> None:
    """Count the mutants of all product code that the tests catch; `-- --each 2` tries a few."""
    _install(session, "tests", "browser", "mutation")
    sharing = {"OMP_WAIT_POLICY": "PASSIVE"}
    session.run("python", "-m", "studies.mutation", *session.posargs, env=sharing)


@nox.session(default=False)
def searches(session: nox.Session) -> None:
    """Count how often `frobench history` errs on made-up commits, for the table in its document."""
    _install(session, torch=False)
    session.run("python", "-m", "studies.searches")


@nox.session(default=False)
def scale(session: nox.Session) -> None:
    """Build the site of 1000 machines, and write `docs/scale.json`; `-- --quick` looks."""
    _install(session, torch=False)
    session.run("python", "-m", "studies.scale", *session.posargs)


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Write the documents as a site, `build/docs/index.html`; a broken link is an error."""
    _install(session, "docs")
    session.run("sphinx-build", "--fail-on-warning", "--keep-going", "-q", "docs", "build/docs")


@nox.session(default=False)
def sdist(session: nox.Session) -> None:
    """Build the source archive, install it, and run its tests; what follows `--` goes to pytest."""
    _install_needs(session, "build", "tests")
    with TemporaryDirectory() as name:  # outside the clone, whose commit is not the archive's
        folder = Path(name)
        copy_tracked(ROOT, folder / "clone")
        session.chdir(folder / "clone")
        session.run("python", "-m", "build", "--no-isolation", "--sdist", "--outdir", name)
        (archive,) = folder.glob("*.tar.gz")
        session.install("--no-build-isolation", "--no-deps", "--force-reinstall", str(archive))
        shutil.unpack_archive(archive, folder, filter="data")
        session.chdir(folder)
        unpacked = archive.name.removesuffix(".tar.gz")
        session.run("frobench", "validate", f"{unpacked}/results")  # what is installed reads runs
        session.chdir(folder / unpacked)
        _run_tests(session)


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """Build the source archive and the wheel into `dist/`."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    session.install(*PINS, *_group("build"))
    with TemporaryDirectory() as folder, session.chdir(folder):
        copy_tracked(ROOT, Path(folder))
        session.run("python", "-m", "build", "--no-isolation", "--outdir", str(ROOT / "dist"))


@nox.session(default=False)
def package(session: nox.Session) -> None:
    """Build the source archive and the wheel; the command of the wheel reads the stored runs."""
    build(session)
    _install_needs(session, torch=False)
    (wheel,) = (ROOT / "dist").glob("*.whl")
    session.install("--no-deps", "--force-reinstall", str(wheel))
    with TemporaryDirectory() as folder, session.chdir(folder):  # where no clone is imported from
        session.run("frobench", "validate", str(ROOT / "results"))


@nox.session(default=False)
def release(session: nox.Session) -> None:
    """Build what a release publishes, and check it; refuse where the project has no address."""
    build(session)
    session.install(*PINS, *_group("release"))
    files = [str(path) for path in (ROOT / "dist").iterdir()]
    session.run("twine", "check", "--strict", *files)
    (wheel,) = (ROOT / "dist").glob("*.whl")
    session.run("check-wheel-contents", str(wheel))
    if not has_address(wheel):
        session.error("the project has no address: set REPOSITORY in setup.py")


def has_address(wheel: Path) -> bool:
    """Return whether the metadata of a wheel has links, which `setup.py` makes from an address."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith(".dist-info/METADATA")]
        return b"\nProject-URL: " in archive.read(name)


def copy_tracked(clone: Path, folder: Path) -> None:
    """Copy what git keeps of a clone; one's own stored runs are nobody else's."""
    done = subprocess.run(  # noqa: S603 - a fixed command
        ["git", "-c", "safe.directory=*", "-C", str(clone), "ls-files", "-z"],  # noqa: S607 - whichever git is there
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, done.stdout.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(clone / name, target, follow_symlinks=False)


def copy_packages(clone: Path, folder: Path) -> None:
    """Copy `frobench` with what its links lead to: import-linter follows no links."""
    leave_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(clone / "frobench", folder / "frobench", ignore=leave_out)
    (folder / "frobench" / "benchmarks" / "__init__.py").touch()  # else it sees no package there


def _group(name: str) -> tuple[str, ...]:
    return nox.project.dependency_groups(PROJECT, name)


def _install(session: nox.Session, *groups: str, torch: bool = True) -> None:
    """Install what the project and the groups need, then the project from this folder."""
    _install_needs(session, *groups, torch=torch)
    session.install("--no-build-isolation", "--no-deps", "--editable", ".")


def _install_with_torch_here(session: nox.Session, *groups: str) -> None:
    """Install as `_install` does, but the pinned torch only if none here sees an accelerator."""
    site_packages = _site_packages(session)
    borrow(None, site_packages)  # pip must see this environment alone while it installs
    torch = lendable_torch(_interpreters())
    own = None if torch else lendable_torch([str(Path(session.bin) / "python")])
    if found := torch or own:
        session.log(f"using the torch {found.version} that is here, since it sees an accelerator")
    if torch:
        session.run("python", "-m", "pip", "uninstall", "--quiet", "--yes", "torch")
    _install(session, *groups, torch=found is None)
    borrow(torch, site_packages)


def _install_needs(session: nox.Session, *groups: str, torch: bool = True) -> None:
    """Install what the project and the groups need, at the pinned versions."""
    session.env["PIP_CONSTRAINT"] = None  # a vendor's image pins its own versions by it
    needs = [need for name, need in NEEDS.items() if torch or name != "torch"]
    size = "340 MB for CPUs, 3 GB for GPUs" if torch else "140 MB"
    session.log(
        f"pip is silent while it downloads what is not here yet, {size}: about a minute, "
        "for GPUs about five"
    )
    extra = [need for group in groups for need in _group(group)]
    session.install(*PINS, *PROJECT["build-system"]["requires"], *needs, *extra)


def _run_tests(session: nox.Session) -> None:
    """Run the tests of the session's folder; what follows `--` goes to pytest."""
    # Tests wait for a fifth of their time, so one process more than there are cores keeps all
    # cores at work. A file's tests share what they measured.
    processes = min((os.cpu_count() or 1) + 1, 4)
    at_once = (f"--numprocesses={processes}", "--dist=loadfile")
    # The threads of one process would keep a core from another while they have nothing to do.
    sharing = {"OMP_WAIT_POLICY": "PASSIVE"}
    session.run("pytest", *at_once, "--no-loadscope-reorder", *session.posargs, env=sharing)


class Torch(NamedTuple):
    """A torch that another Python has: its version, and the folders it and its needs lie in."""

    version: str
    folders: list[str]


_ASK = """
import json, sys, torch
folders = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
usable = torch.accelerator.is_available()
print(json.dumps([sys.version_info[:2], usable, str(torch.__version__), folders]))
"""


def lendable_torch(interpreters: Iterable[str]) -> Torch | None:
    """Find a torch that sees an accelerator and that this Python can import.

    Vendor images bring a build for their hardware that no package index has. The first of
    the interpreters that has one, recent enough and of this Python's minor version, lends it.
    """
    for interpreter in interpreters:
        answer = subprocess.run(  # noqa: S603 - a Python of this machine, asked a fixed question
            [interpreter, "-c", _ASK], capture_output=True, text=True, check=False
        )
        if answer.returncode != 0:  # no torch, or one without torch.accelerator
            continue
        python, usable, version, folders = json.loads(answer.stdout.splitlines()[-1])
        # A vendor's snapshot 2.11.0a0 counts as the 2.11.0 that it becomes.
        recent = Requirement(NEEDS["torch"]).specifier.contains(Version(version).base_version)
        if usable and recent and tuple(python) == sys.version_info[:2]:
            return Torch(version, folders)
    return None


def borrow(torch: Torch | None, site_packages: Path) -> None:
    """Let an environment import another Python's torch, or none.

    The folders come last on its `sys.path`: what is installed in the environment itself
    is found first, and torch with its own needs comes from where it lies.
    """
    link = site_packages / "borrowed-torch.pth"
    link.unlink(missing_ok=True)
    if torch:
        link.write_text("".join(f"{folder}\n" for folder in torch.folders), encoding="utf-8")


def _interpreters() -> list[str]:
    """Name the Pythons that may have a torch: nox's, the one behind it, and those that are chosen.

    A Python is chosen by an active environment, or since it is the first on the path.
    """
    behind = getattr(sys, "_base_executable", sys.executable)
    active = [os.environ.get(name) for name in ("VIRTUAL_ENV", "CONDA_PREFIX")]
    chosen = [str(Path(folder) / "bin" / "python") for folder in active if folder]
    found = [sys.executable, behind, *chosen, shutil.which("python3")]
    return [python for python in dict.fromkeys(found) if python and Path(python).exists()]


def _site_packages(session: nox.Session) -> Path:
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    answer = session.run("python", "-c", ask, silent=True, log=False)
    return Path(str(answer).strip())


if __name__ == "__main__":
    nox.main()
