# SPDX-License-Identifier: MIT
"""The figures of a campaign, as `docs/faults.json` holds and `docs/faults.md` shows them."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from frobench.suite.units import counted
from studies.faults.trials import Part, Result
from studies.tables import table

HEAD = """\
# Faults

What happens to a run, and what anybody sends to a reader of files, breaks nothing. `nox -s faults`
tries that and writes this page: kills, signals, full disks, bodies that misbehave, unusual
surroundings, secrets and mutants of stored files. A workflow repeats the campaign every week with a
fresh seed, and a short form of it is one of the tests. "Faults" counts trials that broke the
promise. Hostile pages are read by `nox -s browser`.
"""


class Tried(Struct):
    """The trials of one kind.

    faults : trials that broke the promise
    longest : seconds of the longest trial
    """

    part: str
    kind: str
    tried: int
    faults: int
    longest: float


class Figures(Struct):
    """A whole campaign."""

    date: str
    machine: str
    python: str
    torch: str
    seed: int
    seconds: float
    tried: list[Tried]
    left_out: dict[str, str]


def sums(results: Iterable[Result]) -> Iterator[Tried]:
    """Yield the sum of each kind, in the order of the parts and kinds."""
    kinds: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        kinds.setdefault((result.part.rpartition(".")[2], result.kind), []).append(result)
    for (part, kind), every in sorted(kinds.items()):
        yield Tried(
            part=part,
            kind=kind,
            tried=sum(one.tried for one in every),
            faults=sum(bool(one.faults) for one in every),
            longest=round(max(one.seconds for one in every), 1),
        )


def page(figures: Figures, parts: Mapping[str, Part]) -> str:
    """Return the page: the promise of each part, and what was tried of each of its kinds."""
    total = sum(one.tried for one in figures.tried)
    faults = sum(one.faults for one in figures.tried)
    summary = (
        f"Campaign of {figures.date} with seed {figures.seed}: {total:,} tries in "
        f"{figures.seconds / 60:.0f} minutes, {counted(faults, 'fault')}. "
        f"Machine `{figures.machine}`, Python {figures.python}, PyTorch {figures.torch}."
    )
    lines = [HEAD, summary]
    for name, part in parts.items():
        short = name.rpartition(".")[2]
        kinds = [one for one in figures.tried if one.part == short]
        lines += [f"\n## {short.capitalize()}\n\n{part.PROMISE}\n", _table(kinds)]
    if figures.left_out:
        lines.append("\n## Not tried\n")
        lines += [f"- {what}: {why}" for what, why in figures.left_out.items()]
    return "\n".join(lines) + "\n"


def _table(kinds: Iterable[Tried]) -> str:
    return table(
        ("kind", "tries", "faults", "longest trial"),
        [
            (
                one.kind.replace("_", " "),
                f"{one.tried:,}",
                f"**{one.faults}**" if one.faults else "0",
                f"{one.longest:.1f} s",
            )
            for one in kinds
        ],
        words=1,
    )
