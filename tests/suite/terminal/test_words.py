# SPDX-License-Identifier: MIT
"""What a terminal says of a history, word by word."""

from typing import Any

from frobench.suite.compare.matching import CaseComparison, RunComparison
from frobench.suite.history.change_search import Culprit, Findings
from frobench.suite.history.commits import Commit
from frobench.suite.history.history import History
from frobench.suite.stored.types import Estimate, VerdictWord
from frobench.suite.terminal import history_words
from frobench.suite.units import RATIO


def near(value: float) -> Estimate:
    return Estimate(value, value - 0.01, value + 0.01, 6)


def spelled(value: float) -> str:
    return f"{value:.3f}{RATIO} [{value - 0.01:.3f}, {value + 0.01:.3f}]"


def case(name: str, value: float, word: VerdictWord) -> CaseComparison:
    facts: dict[str, Any] = dict.fromkeys(("base", "new", "ratio"), near(value))
    facts |= dict.fromkeys(("p_value", "smallest_change", "reason"))
    return CaseComparison(fullname=name, group="", headline=True, word=word, allowance=0, **facts)


COMMITS = [Commit(str(n) * 40, f"Commit {n}", parents=2 if n == 2 else 1) for n in range(5)]
FIRST, SECOND, THIRD, FOURTH, FIFTH = (commit.short for commit in COMMITS)


def searched(ends: dict[str, float], *culprits: Culprit, **found: Any) -> History:  # noqa: ANN401 - of `Findings`
    """Return a history in which cases take so many times as long at the end as at first."""
    cases = {name: case(name, n, "slower" if n > 1 else "faster") for name, n in ends.items()}
    compared = RunComparison(base="0", new="4", cases=[], faults=[], counts={})
    return History(COMMITS, Findings(4, 6, cases, culprits=[*culprits], **found), compared, [])


def test_each_change_is_named_with_its_commit_and_what_to_do_next() -> None:
    done = searched(
        {"five": 0.8, "four": 1.2, "three": 1.3, "two": 1.4, "one": 1.5},
        Culprit("one", 0, 1, near(1.49)),
        Culprit("two", 1, 2, near(1.4)),
        Culprit("three", 2, 3, near(1.1)),
        Culprit("four", 2, 4, near(1.2)),
        Culprit("five", 1, 3, None),
        broken={3: "it is broken", 2: "it fails"},
    )
    over = f"Over the whole range it takes {spelled(1.3)} as long"
    more = f"as long. {over}, so other commits changed it too."
    between = f'{THIRD} and {FIFTH} "Commit 4": it takes {spelled(1.2)} as long. 1 commit'
    likely = f'as long. At which commit cannot be resolved; {FOURTH} "Commit 3" is the likeliest.'
    assert [*history_words.sentences(done)] == [
        f'skipped: {THIRD} "Commit 2": it fails',
        f'skipped: {FOURTH} "Commit 3": it is broken',
        f'one became slower at commit {SECOND} "Commit 1": it takes {spelled(1.49)} as long.',
        f"Next: `git show {SECOND}`",
        f'two became slower at commit {THIRD} "Commit 2": it takes {spelled(1.4)} as long.',
        f"Next: the same command with `--range '{THIRD}^1..{THIRD}^2'`, which it merged",
        f'three became slower at commit {FOURTH} "Commit 3": it takes {spelled(1.1)} {more}',
        f"Next: `git show {FOURTH}`",
        f"five became faster between {FIRST} and {FIFTH}: it takes {spelled(0.8)} {likely}",
        "Next: the same command with `--launches 24`",
        f"four became slower between {between} between them could not be measured.",
        f"Next: `git log {THIRD}..{FIFTH}`",
    ]


def test_the_table_of_a_change_has_the_commits_that_were_measured_for_it() -> None:
    beside = {1: {"one": near(1.0)}, 3: {"one": near(1.2)}, 4: {"other": near(1.1)}}
    done = searched({"one": 1.2}, Culprit("one", 1, 3, near(1.2)), beside_first=beside)
    assert [row for table in history_words.tables(done) for row in table.rows] == [
        ("one", FIRST, "Commit 0", "", "first"),
        ("one", SECOND, "Commit 1", spelled(1.0), "as first"),
        ("one", FOURTH, "Commit 3", spelled(1.2), "slower"),
    ]


def test_without_a_change_the_largest_that_is_possible_is_said() -> None:
    def said(value: float) -> list[str]:
        ends = {"one": case("one", 1.02, "same"), "two": case("two", value, "same")}
        return [*history_words.sentences(searched({})._replace(findings=Findings(4, 6, ends)))]

    more = "Next: the same command with `--launches 24`"
    unclear = "No change is conclusive; up to 11% is not ruled out (two)."
    assert (said(0.97), said(0.9)) == (["Nothing changed beyond 4%."], [unclear, more])
