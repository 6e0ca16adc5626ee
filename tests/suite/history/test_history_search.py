# SPDX-License-Identifier: MIT
"""The search for the commit at which a case changed: how often it errs, and what it says."""

import click

from frobench.command import main
from frobench.suite.history.change_search import Findings, search
from frobench.suite.statistics import ALARMS
from studies.searches import MadeUpCommits, step

COMMITS, LAUNCHES = 9, 10


def found(commits: MadeUpCommits, launches: int = LAUNCHES) -> Findings:
    return search(COMMITS, commits, launches)


def test_a_false_alarm_is_rare_however_long_the_range() -> None:
    searches = 400
    equal = {case: step(COMMITS, 0, 1.0) for case in ("one", "other", "third")}
    alarms = sum(bool(found(MadeUpCommits(equal, seed)).changed) for seed in range(searches))
    assert alarms / searches <= ALARMS * 1.4  # of 400 searches, 20 are expected at most


def test_a_commit_5_percent_slower_is_found_and_no_other_is_blamed() -> None:
    searches, right, wrong = 120, 0, 0
    for seed in range(searches):
        at = 1 + seed % (COMMITS - 1)
        times = {"slow": step(COMMITS, at, 1.05), "equal": step(COMMITS, 0, 1.0)}
        named = {
            (culprit.case, culprit.at)
            for culprit in found(MadeUpCommits(times, seed)).culprits
            if culprit.ratio is not None
        }
        right += ("slow", at) in named
        wrong += bool(named - {("slow", at)})
    assert right / searches >= 0.95
    assert wrong / searches <= 0.05


def test_the_ratio_comes_from_launches_made_for_it_alone() -> None:
    commits = MadeUpCommits({"slow": step(COMMITS, 6, 1.1)})
    (culprit,) = found(commits).culprits
    assert (culprit.before, culprit.at) == (5, 6)
    assert commits.pairs[-1] == (5, 6, LAUNCHES)
    assert culprit.ratio is not None
    assert culprit.ratio.launches == LAUNCHES
    assert 1.07 < culprit.ratio.value < 1.13


def test_a_large_change_takes_few_launches_a_step_and_the_number_of_steps_is_a_logarithm() -> None:
    commits = MadeUpCommits({"slow": step(65, 40, 1.5)})
    search(65, commits, LAUNCHES)
    steps = commits.pairs[1:-1]
    assert len(steps) == 6
    assert {launches for _, _, launches in steps} == {6}


def test_a_broken_commit_is_skipped_and_the_change_then_lies_in_a_range() -> None:
    findings = found(MadeUpCommits({"slow": step(COMMITS, 4, 1.1)}, broken={3, 4}))
    (culprit,) = findings.culprits
    assert (culprit.before, culprit.at) == (2, 5)
    assert culprit.ratio is not None
    assert findings.broken == {3: "ImportError: no module", 4: "ImportError: no module"}


def test_cases_that_changed_at_different_commits_are_each_found() -> None:
    times = {"one": step(COMMITS, 2, 1.2), "other": step(COMMITS, 7, 0.8)}
    findings = found(MadeUpCommits(times))
    assert {culprit.case: culprit.at for culprit in findings.culprits} == {"one": 2, "other": 7}
    assert all(culprit.ratio is not None for culprit in findings.culprits)


def test_commits_that_are_found_share_the_false_alarms_of_one() -> None:
    launches = 6  # if all agree, the p-value is 2/64: below 5%, above half of it
    one, other = step(COMMITS, 2, 1.5), step(COMMITS, 7, 0.5)

    def confirmed(**times: list[float]) -> list[bool]:
        culprits = found(MadeUpCommits(times), launches).culprits
        return [culprit.ratio is not None for culprit in culprits]

    assert confirmed(one=one) == [True]
    assert confirmed(one=one, other=other) == [False, False]


def test_the_fewest_launches_that_are_accepted_are_the_fewest_that_show_a_change() -> None:
    large = {"slow": step(2, 1, 2.0)}
    option = next(one for one in main.commands["history"].params if one.name == "launches")
    assert isinstance(option.type, click.IntRange)
    fewest = int(option.type.min or 0)
    assert search(2, MadeUpCommits(large), fewest).changed == ["slow"]
    assert not search(2, MadeUpCommits(large), fewest - 1).changed
