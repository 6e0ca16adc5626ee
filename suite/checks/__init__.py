# SPDX-License-Identifier: MIT
"""Rules about runs: what a run says of itself, and whether a stored file can be believed.

A rule is one small function in one of these modules (see `suite.checks.rule`).
`python -m frobench.suite.checks` prints them all, as `docs/checks.md` has them.
"""

import traceback
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from frobench.suite import personal_data
from frobench.suite.checks import (
    bounds,
    case_facts,
    failures,
    newer,
    noise,
    personal,
    plausibility,
    power,
    rule,
    structure,
    timing,
    too_good,
)
from frobench.suite.stored import store
from frobench.suite.stored.types import Conclusion, Run

OF_NUMBERS = (timing, noise, power)
"""Modules of rules about what was measured, and about what sensors showed meanwhile."""
OF_BELIEF = (plausibility, too_good)
"""Modules of rules about results that are impossible, or very unlikely, on any machine."""
OF_FACTS = (*OF_NUMBERS, *OF_BELIEF, newer)
"""Modules of rules about a run whose structure is right."""
OF_FILES = (structure, personal)
"""Modules of rules that say whether a stored file is whole."""
ALL = (failures, *OF_FACTS, bounds, *OF_FILES)
DECLARED = rule.rules(timing).keys() - {"result-not-ready", "unsynchronised"}
"""Codes of faults that become warnings when the run itself reported them. The cases that they
name count for nothing in any file."""
REPORTED = rule.rules(failures).keys()
"""Codes of what the outcomes of a run say already: a case that failed is no fault of its file."""
LONGEST_MESSAGE = 300
"""Characters of the message about a file that makes Frobench fail."""


def conclude(run: Run, *, whole: bool = False) -> list[Conclusion]:
    """Judge a run by its facts, never by the conclusions that it carries.

    A case whose structure is wrong, or that has impossible numbers, is not judged further.

    whole : whether `opened` found no damage, so that structure and texts need no second look
    """
    faults = [*rule.conclusions(run, bounds, *(() if whole else (structure,)))]
    wrong = {fault.case for fault in faults}
    sound = replace(run, benchmarks=[case for case in run.benchmarks if case.fullname not in wrong])
    with case_facts.remembered():
        return [
            *rule.conclusions(run, failures),
            *faults,
            *(() if whole else rule.conclusions(run, personal)),
            *(() if None in wrong else rule.conclusions(sound, *OF_FACTS)),
        ]


def read(path: Path) -> Run:
    """Read a stored run and judge it anew; anybody may have changed the stored conclusions.

    Raises `InvalidResult` or `OSError` as `suite.stored.store.read`.
    """
    return judged(store.read(path))


def judged(run: Run, conclusions: list[Conclusion] | None = None) -> Run:
    """Return a run with these conclusions, or else with those that follow from its facts."""
    current = conclude(run) if conclusions is None else conclusions
    return replace(run, frobench=replace(run.frobench, conclusions=current))


def credible(run: Run) -> Run:
    """Return a judged run without the samples of the cases that an error makes impossible.

    Such a case counts as failed, and the error is its reason. An error of the whole run
    concerns all of its cases.
    """
    reasons: dict[str | None, str] = {}
    for error in run.frobench.conclusions:
        if error.severity == "error" and error.code not in REPORTED:
            reasons.setdefault(error.case, reason(error))
    if not reasons:
        return run
    names = {case.fullname for case in run.benchmarks if {case.fullname, None} & reasons.keys()}
    outcomes = [
        replace(outcome, status="failed", reason=reasons.get(outcome.fullname) or reasons[None])
        if outcome.fullname in names
        else outcome
        for outcome in run.frobench.outcomes
    ]
    return replace(
        run,
        benchmarks=[case for case in run.benchmarks if case.fullname not in names],
        frobench=replace(run.frobench, outcomes=outcomes),
    )


def reason(error: Conclusion) -> str:
    """Return why a case counts for nothing, with the code of the rule that says so."""
    return f"{error.code}: {error.message}"


def review(path: Path, but: Collection[str] = ()) -> list[Conclusion]:
    """Judge a stored file: an error refuses it, and a warning makes it doubtful.

    A damaged file is not judged by its numbers.

    but : codes of damage that does not matter
    """
    run, damaged = opened(path)
    mattering = [conclusion for conclusion in damaged if conclusion.code not in but]
    if run is None or mattering:
        return mattering
    declared = {(one.code, one.case) for one in run.frobench.conclusions if one.code in DECLARED}
    try:
        return [
            replace(conclusion, severity="warning")
            if (conclusion.code, conclusion.case) in declared
            else conclusion
            for conclusion in conclude(run, whole=not damaged)
            if conclusion.code not in {*REPORTED, *but}
        ]
    except Exception as error:  # noqa: BLE001 - as in `opened`
        return [broken(error)]


def opened(path: Path) -> tuple[Run | None, list[Conclusion]]:
    """Return a stored file's run, if it can be read, and its damage, for which it is refused.

    A file that makes Frobench fail is damaged, so that other files can still be used.
    """
    try:
        data = store.content(path)
        plain = store.plain_of(data)
        run = store.run_of(plain)
        store.require_single_names(data)
        but = (personal.personal_data,)  # which sees only the texts that a run has
        return run, [*rule.conclusions(run, *OF_FILES, but=but), *_in_text(plain)]
    except store.InvalidResult as fault:
        return None, [unreadable(fault)]
    except Exception as error:  # noqa: BLE001 - of whichever kind
        return None, [broken(error)]


def _in_text(plain: dict[str, Any]) -> Iterator[Conclusion]:
    """Judge all that a file holds, also where a run has no field: its texts and its digest."""
    for message in dict.fromkeys(personal_data.disclosures(plain)):
        yield rule.conclusion(personal.personal_data, personal.SEVERITY, rule.Fault(message))
    stored, computed = plain["frobench"].get("digest", ""), store.digest_of(plain)
    if computed != stored:
        yield digest_differs(stored, computed)


def digest_differs(stored: str, computed: str) -> Conclusion:
    """The content is not what the digest was made of.

    The file was changed after it was stored. Take it again from where it was made.
    """
    message = f"stored {stored[:12] or 'none'}, computed {computed[:12]}"
    return rule.conclusion(digest_differs, "error", rule.Fault(message))


def unreadable(fault: store.InvalidResult) -> Conclusion:
    """The file is no stored run, or not a whole one.

    Take the file again from where it was made; it was cut off or edited.
    """
    return rule.conclusion(unreadable, "error", rule.Fault(str(fault)))


def broken(error: Exception) -> Conclusion:
    """A run makes Frobench fail where it is read, judged or drawn, so it has no page.

    Report it with the file: it holds something that should have been refused with its place.
    """
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"in {Path(frame.filename).name}, line {frame.lineno}"
    message = f"{type(error).__name__} {where}: {error}"[:LONGEST_MESSAGE]
    return rule.conclusion(broken, "error", rule.Fault(message))
