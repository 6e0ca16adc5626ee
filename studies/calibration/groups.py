# SPDX-License-Identifier: MIT
"""What is said of recorded launches when groups of them stand where runs do.

Groups drawn at random know no order of launches: their errors are those of the rule alone. In
blocks of one launch after another, the second stands to the first as a later run does to an
earlier one, and what the machine did in between counts too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from frobench.suite.compare.multiple_testing import Sides, compare
from frobench.suite.compare.runs import launch_ratios
from frobench.suite.compare.verdicts import Comparison, compare_pairs, compare_values, verdict
from frobench.suite.statistics import launch_medians
from frobench.suite.stored.types import Case
from studies.calibration.figures import Figure, Goal, Table, bounded
from studies.calibration.verdicts import ALARMS, alarmed, different

LAUNCHES = 8
"""Launches in a group, as in a standard run."""
BOUND = 0.08
FOUND = Goal(least=0.9)

Group = Sequence[int]


@dataclass(frozen=True)
class Recorded:
    """A case with another version of its body, by launch.

    old, new : launch medians of the other version and of the body, seconds
    ratios : new / old within each launch
    """

    name: str
    old: list[float | None]
    new: list[float | None]
    ratios: list[float | None]

    @classmethod
    def of(cls, case: Case) -> "Recorded":
        """Take a case from a stored run."""
        data, launches = case.extra_info.against, case.extra_info.launches
        assert data is not None, f"{case.name} has no other version"
        return cls(
            name=f"{case.params['piece']}, {case.params['repeats']} repeats",
            old=launch_medians(data, launches),
            new=launch_medians(case.stats.data, launches),
            ratios=launch_ratios(case, data),
        )

    def runs(self, base: Group, new: Group) -> Sides:
        """Return the body beside itself, as two runs of some launches each would have it."""
        return _some(self.new, base), _some(self.new, new)

    def versions_apart(self, base: Group, new: Group) -> Comparison:
        """Compare the versions as two runs would, the other one first."""
        return compare_values(_some(self.old, base), _some(self.new, new))

    def versions(self, group: Group) -> Comparison:
        """Compare the versions as one run would that has them side by side."""
        return compare_pairs(_some(self.ratios, group))


def table(same: Sequence[Recorded], slower: Sequence[Recorded], draws: int) -> Table:
    """Return what is said of groups.

    same, slower : cases whose versions are identical, and whose body does 2% more
    draws : groups drawn at random, and pairs of groups
    """
    launches = len(same[0].new)
    drawn = list(_drawn(launches, draws))
    in_a_row = [(_block(at), _block(at + LAUNCHES)) for at in range(launches - 2 * LAUNCHES + 1)]
    once = [_block(at) for at in range(0, launches - LAUNCHES + 1, LAUNCHES)]
    random_groups = [group for group, _ in drawn]
    return Table(
        title=f"What is said of groups of these launches, {LAUNCHES} of which stand for a run",
        rows="",
        figures=[
            *_alarms("identical, two runs", same, drawn, ALARMS, BOUND),
            *_alarms("identical, two runs in a row", same, in_a_row),
            *_different("identical, side by side", same, random_groups, ALARMS),
            *_different("identical, side by side, each launch once", same, once),
            *_slower("2% slower, side by side", _versions(slower, random_groups), FOUND),
            *_slower("2% slower, side by side, each launch once", _versions(slower, once)),
            *_slower(
                "2% slower, two runs",
                [case.versions_apart(*pair) for pair in drawn for case in slower],
            ),
        ],
        note="A share misses its 5% where luck hardly explains it. The upper bound is Clopper and "
        "Pearson's, of 95%.",
    )


def _alarms(
    what: str,
    cases: Sequence[Recorded],
    pairs: Sequence[tuple[Group, Group]],
    most: float | None = None,
    bound: float | None = None,
) -> list[Figure]:
    """Count the cases that are called different by themselves, and the suites with any such."""
    families = [[case.runs(*pair) for case in cases] for pair in pairs]
    alone = sum(different(map(compare, family)) for family in families)
    together = sum(map(alarmed, families))
    return [
        *bounded(f"{what}: a case called different", alone, len(pairs) * len(cases), most, bound),
        *bounded(f"{what}: any case of all together", together, len(pairs), most, bound),
    ]


def _different(
    what: str, cases: Sequence[Recorded], groups: Sequence[Group], most: float | None = None
) -> list[Figure]:
    compared = _versions(cases, groups)
    return bounded(f"{what}: a case called different", different(compared), len(compared), most)


def _slower(what: str, compared: Sequence[Comparison], goal: Goal | None = None) -> list[Figure]:
    found = [verdict(each) == "slower" for each in compared]
    row = f"{what}: called slower"
    return [
        Figure.of(row, "share", sum(found) / len(found), "1", goal),
        Figure.of(row, "of", len(found), "n"),
    ]


def _versions(cases: Sequence[Recorded], groups: Sequence[Group]) -> list[Comparison]:
    return [case.versions(group) for group in groups for case in cases]


def _drawn(launches: int, draws: int) -> Iterator[tuple[Group, Group]]:
    """Draw pairs of groups that have no launch in common, the same ones every time."""
    random = Random(0)  # noqa: S311 - not for secrets
    for _ in range(draws):
        both = random.sample(range(launches), 2 * LAUNCHES)
        yield both[:LAUNCHES], both[LAUNCHES:]


def _block(first: int) -> Group:
    return range(first, first + LAUNCHES)


def _some(values: Sequence[float | None], group: Group) -> list[float | None]:
    return [values[launch] for launch in group]
