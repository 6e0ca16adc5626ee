# SPDX-License-Identifier: MIT
"""The command: `python -m studies.mutation`."""

import argparse
import importlib
import io
import multiprocessing
import os
import shutil
import subprocess
import sys
import tarfile
import time
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import msgspec

from studies.mutation import document
from studies.mutation.document import Study, Tried, scores
from studies.mutation.drawing import FOLDERS, draw
from studies.mutation.recording import Recorded, choose, record
from studies.mutation.trying import Chosen, Copy, Mutant, adopt_orphans, attempt

ROOT = Path(__file__).parents[2]
FIGURES, PAGE = ROOT / "docs" / "mutation.json", ROOT / "CONTRIBUTING.md"
CACHE = ROOT / ".mutation"
"""What was recorded of a revision, and what became of its mutants: a folder of each revision."""
AT_ONCE = 2
NOT_RECORDED = ("tests/cluster/test_fleet.py", "tests/gpu/", "tests/studies/test_mutation.py")
SHARED = (
    *("matplotlib.pyplot", "numpy", "pandas", "pyarrow", "pytest_benchmark.plugin", "scipy.stats"),
    *("torch", "torch.utils.flop_counter"),
)
"""Modules of others that most tests import: import them before the forks."""


def main() -> None:
    """Change the code in one place at a time, and count the changes that tests catch."""
    parser = argparse.ArgumentParser(prog="python -m studies.mutation", description=main.__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of everything that is drawn")
    parser.add_argument("--each", type=int, help="mutants of each folder; not written to docs")
    parser.add_argument("--only", choices=FOLDERS, help="one folder; not written to docs")
    parser.add_argument("--commit", default="HEAD", help="of this repository")
    asked = parser.parse_args()
    numbers = {name: asked.each or most for name, (_, most) in FOLDERS.items()}
    revision = _git("rev-parse", asked.commit).decode().strip()
    tried = _study(
        revision, asked.seed, {asked.only: numbers[asked.only]} if asked.only else numbers
    )
    stored = msgspec.json.decode(FIGURES.read_bytes(), type=Study)
    same = (stored.revision, stored.seed) == (revision, asked.seed)
    earlier = stored.earlier if same else scores(stored.mutants)
    print(document.comparison(scores(tried), earlier))
    if asked.each is None and asked.only is None:
        today = datetime.now(UTC).date().isoformat()
        study = Study(revision, today, asked.seed, tried, earlier)
        FIGURES.write_bytes(msgspec.json.format(msgspec.json.encode(study)) + b"\n")
        PAGE.write_text(document.scored(PAGE.read_text("utf-8"), study), encoding="utf-8")


def _study(revision: str, seed: int, numbers: dict[str, int]) -> list[Tried]:
    """Try so many mutants of each folder of a revision."""
    for name in SHARED:
        importlib.import_module(name)
    kept = CACHE / revision
    (kept / "recorded").mkdir(parents=True, exist_ok=True)
    context, archive = multiprocessing.get_context("fork"), _git("archive", revision)
    with TemporaryDirectory(prefix="mutation-") as folder:
        pool = ProcessPoolExecutor(AT_ONCE, context, _enter, (archive, Path(folder), kept))
        try:
            checkout = _unpacked(archive, Path(folder) / "original")
            records = _recorded(checkout, kept, pool)
            mutants = [
                mutant
                for name, number in numbers.items()
                for mutant in draw(checkout, name, number, Random(f"{seed}/{name}"), pool)  # noqa: S311 - no secret
            ]
            chosen = [choose(checkout, records, mutant) for mutant in mutants]
            return _tried(mutants, chosen, kept / f"seed-{seed}.jsonl", pool)
        finally:
            pool.shutdown(cancel_futures=True)


def _git(*arguments: str) -> bytes:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout


def _unpacked(archive: bytes, folder: Path) -> Path:
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        opened.extractall(folder, filter="data")
    return folder


_copy: Copy


def _enter(archive: bytes, folder: Path, kept: Path) -> None:
    """Give this process a checkout of its own."""
    global _copy  # noqa: PLW0603 - as the pool has it
    adopt_orphans()
    checkout = _unpacked(archive, folder / str(os.getpid()) / "checkout")
    _copy = Copy(checkout, kept / "sites")


def _recorded(checkout: Path, kept: Path, pool: Executor) -> dict[str, Recorded]:
    """Record what is not recorded yet; files that take long are first."""
    if not (kept / "sites").exists():
        _build_sites(checkout, kept / "sites")
    texts = {
        path.relative_to(checkout).as_posix(): path.read_text("utf-8")
        for path in checkout.glob("tests/**/test_*.py")
    }
    files = sorted(texts, key=lambda file: ("mark.long" not in texts[file], file))
    files = [file for file in files if not file.startswith(NOT_RECORDED)]
    paths = {file: kept / "recorded" / f"{file[:-3].replace('/', '+')}.json" for file in files}
    missing = {file: path for file, path in paths.items() if not path.exists()}
    begun = time.monotonic()
    waiting = [pool.submit(_record, *item) for item in missing.items()]
    for number, done in enumerate(as_completed(waiting), 1):
        seconds = time.monotonic() - begun
        print(
            f"recorded {number} of {len(waiting)} in {seconds:.0f} s: {done.result()}", flush=True
        )
    decode = msgspec.json.Decoder(Recorded).decode
    return {file: decode(path.read_bytes()) for file, path in paths.items()}


def _build_sites(checkout: Path, folder: Path) -> None:
    """Build the sites that tests in a browser look at."""
    begun = folder.with_suffix(".begun")
    shutil.rmtree(begun, ignore_errors=True)
    begun.mkdir()
    code = "import pathlib, sys; from tests.browser import sites; "
    code += "sites.build(pathlib.Path(sys.argv[1]))"
    command = [sys.executable, "-c", code, str(begun)]
    subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.DEVNULL)
    begun.rename(folder)


def _record(file: str, kept: Path) -> str:
    return f"{file}, {record(_copy, file, kept)} tests"


def _tried(
    mutants: list[Mutant], chosen: list[list[Chosen]], kept: Path, pool: Executor
) -> list[Tried]:
    """Try the mutants that were not tried yet; keep each outcome as it comes."""
    lines = kept.read_bytes().splitlines() if kept.exists() else []
    known = [msgspec.json.decode(line, type=Tried) for line in lines]
    found = {(one.file, one.line, one.change): one for one in known}
    keys = [(one.path, one.line, one.change) for one in mutants]
    begun = time.monotonic()
    waiting = [
        pool.submit(_try, mutant, tests)
        for mutant, tests, key in zip(mutants, chosen, keys, strict=True)
        if key not in found
    ]
    with kept.open("ab") as file:
        for number, done in enumerate(as_completed(waiting), 1):
            one = done.result()
            found[one.file, one.line, one.change] = one
            file.write(msgspec.json.encode(one) + b"\n")
            file.flush()
            print(
                f"{number} of {len(waiting)}, {time.monotonic() - begun:.0f} s: {one.outcome}: "
                f"{one.file}:{one.line}: {one.change[:100]}: {one.test}",
                flush=True,
            )
    return [found[key] for key in keys]


def _try(mutant: Mutant, chosen: list[Chosen]) -> Tried:
    outcome, test = attempt(_copy, mutant, chosen) if chosen else ("not run", "")
    return Tried(mutant.folder, mutant.path, mutant.line, mutant.change, outcome, test)


if __name__ == "__main__":
    main()
