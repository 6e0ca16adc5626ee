# SPDX-License-Identifier: MIT
"""The command: `python -m studies.mutation`."""

import argparse
import importlib
import io
import subprocess
import tarfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import msgspec

from studies.mutation.document import Figures, Result, Score, filled, share
from studies.mutation.drawing import draw
from studies.mutation.subjects import BEFORE, SUBJECTS, SUBJECTS_BEFORE, Subject
from studies.mutation.trying import examine, reaching, survives

ROOT = Path(__file__).parents[2]
FIGURES, PAGE = ROOT / "docs" / "mutation.json", ROOT / "CONTRIBUTING.md"
SHARED = ("matplotlib.pyplot", "numpy", "pandas", "pytest_benchmark.plugin", "scipy.stats", "torch")
"""Modules of others that most tests import: import them before the forks."""


def main() -> None:
    """Change the code at random in one place at a time, and count what the tests catch."""
    parser = argparse.ArgumentParser(prog="python -m studies.mutation", description=main.__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of everything that is drawn")
    parser.add_argument("--each", type=int, default=40, help="mutants of each subject")
    parser.add_argument("--only", choices=SUBJECTS, help="one subject")
    parser.add_argument("--commit", default="HEAD", help="of this repository")
    parser.add_argument("--before", action="store_true", help=f"of commit {BEFORE}")
    asked = parser.parse_args()
    for name in SHARED:
        importlib.import_module(name)
    commit = (
        _git("rev-parse", "--short=7", BEFORE if asked.before else asked.commit).decode().strip()
    )
    score = Score(commit, datetime.now(UTC).date().isoformat(), asked.seed, {})
    with TemporaryDirectory() as folder:
        checkout = Path(folder) / "checkout"
        with tarfile.open(fileobj=io.BytesIO(_git("archive", commit))) as archive:
            archive.extractall(checkout, filter="data")
        for name, subject in (SUBJECTS_BEFORE if asked.before else SUBJECTS).items():
            if asked.only in {None, name}:
                random = Random(f"{asked.seed}/{name}")  # noqa: S311 - no secret
                score.results[name] = _result(checkout, subject, asked.each, random)
                print(f"{name}: {share([score.results[name]])}", flush=True)
                _write(score, before=asked.before)


def _git(*arguments: str) -> bytes:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout


def _result(checkout: Path, subject: Subject, number: int, random: Random) -> Result:
    """Try so many mutants of a subject."""
    code = _files(checkout, subject.code, "*.py")
    mutants = draw(checkout, code, number, random)
    paths = _files(checkout, subject.tests, "test_*.py")
    tests = examine(checkout, code, [path.relative_to(checkout).as_posix() for path in paths])
    result = Result(len(mutants), 0, 0, [])
    for mutant in mutants:
        able = reaching(checkout, mutant, tests)
        survived = not able or survives(checkout, mutant, tests, able)
        described = f"{mutant.path}:{mutant.line}: {mutant.change}"
        state = ("survived" if able else "unreached") if survived else "caught"
        print(f"{state}: {described}", flush=True)
        result.killed += not survived
        result.unreached += not able
        if survived:
            result.survivors.append(described)
    return result


def _files(checkout: Path, patterns: Iterable[str], name: str) -> list[Path]:
    """Return the files that patterns name, and of folders all those of a name."""

    def files() -> Iterator[Path]:
        for pattern in patterns:
            for path in checkout.glob(pattern):
                yield from path.rglob(name) if path.is_dir() else [path]

    return sorted(files())


def _write(score: Score, *, before: bool) -> None:
    """Keep a score beside the other, with what is stored of the same commit and sample."""
    stored = msgspec.json.decode(FIGURES.read_bytes(), type=Figures)
    known = stored.before if before else stored.now
    if known is not None and (known.commit, known.seed) == (score.commit, score.seed):
        score.results = known.results | score.results
    if before:
        stored.before = score
    else:
        stored.now = score
    FIGURES.write_bytes(msgspec.json.format(msgspec.json.encode(stored)) + b"\n")
    PAGE.write_text(filled(PAGE.read_text("utf-8"), stored), encoding="utf-8")


if __name__ == "__main__":
    main()
