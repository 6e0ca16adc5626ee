# SPDX-License-Identifier: MIT
"""Rules about runs: what a run says of itself, and whether a stored file can be believed.

A rule is one small function in one of these modules; adding it there is all there is to do.
`python -m suite.checks` prints them all, as `docs/checks.md` has them.
"""

from collections.abc import Collection
from pathlib import Path
from types import ModuleType

import msgspec
from msgspec.structs import replace

from suite.checks import facts, failures, raised, rule, today
from suite.checks.belief import (
    claims,
    descriptions,
    doubts,
    joules,
    origin,
    plausibility,
    rates,
    unmeasured,
)
from suite.checks.file import integrity, privacy, structure
from suite.checks.numbers import (
    across_nodes,
    easy_inputs,
    noise,
    power,
    repetition,
    resolution,
    settings,
    steadiness,
    throttling,
    timing,
    work,
)
from suite.personal import private
from suite.stored import bounds, store
from suite.stored.run import Conclusion, Run

OF_NUMBERS = (timing, work, easy_inputs, resolution, settings, repetition, noise, steadiness)
"""Modules of rules about what was measured."""
OF_SENSORS = (throttling, power)
"""Modules of rules about what sensors said meanwhile."""
OF_NODES = (across_nodes,)
"""Modules of rules about several machines that measured together."""
OF_BELIEF = (rates, plausibility, unmeasured, claims, origin, descriptions, joules, doubts)
"""Modules of rules about what cannot be, or hardly, whoever measured it."""
OF_FILES = (structure, privacy, integrity)
"""Modules of rules that say whether a stored file is whole."""
DECLARED = (rule.rules(timing).keys() | rule.rules(work).keys()) - {
    "result-not-ready",
    "unsynchronised",
}
"""Codes of errors that an honest run may have. Such a file is not refused if the run itself
reported them; the cases that they name count for nothing in any file."""
REPORTED = rule.rules(failures).keys()
"""Codes of what the outcomes of a run say already: a case that failed is no fault of its file."""
PERSONAL = "personal-data"
"""Code of the rule that looks at every text, of a file at those too that are no part of a run."""
LONGEST_MESSAGE = 300
"""Characters of what is said of a file that Frobench fails on."""
ALL = (failures, *OF_NUMBERS, *OF_SENSORS, *OF_NODES, *OF_BELIEF, *OF_FILES, today)
"""All modules of rules."""


def conclude(run: Run, *, whole: bool = False) -> list[Conclusion]:
    """Say what failed in a run, what is wrong with its numbers, and what makes them doubtful.

    Only the facts count, never the conclusions that the run carries. A case whose structure is
    wrong is not judged by its numbers.

    whole : whether `opened` found no damage, so that structure and texts need no second look
    """
    broken = [] if whole else list(rule.conclusions(structure, run))
    named = {fault.case for fault in broken}
    sound = replace(run, benchmarks=[case for case in run.benchmarks if case.fullname not in named])
    named_in = () if whole else rule.conclusions(privacy, run)
    with facts.remembered():
        return [
            *rule.conclusions(failures, run),
            *broken,
            *named_in,
            *_judge(sound, *OF_NUMBERS, *OF_SENSORS, *OF_NODES, *OF_BELIEF),
        ]


def read(path: Path) -> Run:
    """Read a stored run, with the conclusions that follow from its facts.

    The stored conclusions record what the run said when it was measured, and anybody may have
    changed them since: whatever is shown or compared is judged anew.

    Raises `InvalidResult` or `OSError` as `suite.stored.store.read`.
    """
    return judged(store.read(path))


def judged(run: Run, conclusions: list[Conclusion] | None = None) -> Run:
    """Return a run with the conclusions that follow from its facts, or with these if known."""
    current = conclude(run) if conclusions is None else conclusions
    return replace(run, frobench=replace(run.frobench, conclusions=current))


def credible(run: Run) -> Run:
    """Return a judged run without the samples of the cases that an error makes impossible.

    Such a case counts as failed, and the error is its reason. An error of the whole run
    concerns all of its cases.
    """
    errors = [
        error
        for error in run.frobench.conclusions
        if error.severity == "error" and error.code not in REPORTED
    ]
    if not errors:
        return run
    reasons = {error.case: reason(error) for error in reversed(errors)}
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


def validate(path: Path, but: Collection[str] = ()) -> list[Conclusion]:
    """Return what is wrong with a stored file, and what makes it doubtful.

    An error is what no honest result has: the file is to be refused. A warning is no reason to. A
    file that is not whole is not judged by its numbers.

    but : codes of damage that does not matter
    """
    return [conclusion for conclusion in review(path, but) if conclusion.severity != "info"]


def review(path: Path, but: Collection[str] = ()) -> list[Conclusion]:
    """Return what `validate` does, and of a file without fault what else its reader should know."""
    try:
        return _review(path, but)
    except Exception as error:  # noqa: BLE001 - as below
        return [broken(error)]


def _review(path: Path, but: Collection[str]) -> list[Conclusion]:
    run, damaged = _opened(path)
    broken = [conclusion for conclusion in damaged if conclusion.code not in but]
    if run is None or broken:
        return broken
    declared = {
        (conclusion.code, conclusion.case)
        for conclusion in run.frobench.conclusions
        if conclusion.code in DECLARED
    }
    judged_anew = [
        replace(conclusion, severity="warning")
        if (conclusion.code, conclusion.case) in declared
        else conclusion
        for conclusion in conclude(run, whole=not damaged)
        if conclusion.code not in {*REPORTED, *but}
    ]
    faulty = any(conclusion.severity == "error" for conclusion in judged_anew)
    return judged_anew if faulty else [*judged_anew, *_judge(run, today)]


def damage(path: Path) -> list[Conclusion]:
    """Return why a stored file cannot be used at all, whatever its numbers are worth."""
    return opened(path)[1]


def opened(path: Path) -> tuple[Run | None, list[Conclusion]]:
    """Return what is in a stored file, if it can be read, and its damage as `damage` does.

    That Frobench fails on a file is damage too, which keeps no other file from being used.
    """
    try:
        return _opened(path)
    except Exception as error:  # noqa: BLE001 - whatever the file of somebody else brings about
        return None, [broken(error)]


def _opened(path: Path) -> tuple[Run | None, list[Conclusion]]:
    """Return what is in a stored file, if it can be read, and what is damaged there."""
    try:
        data = store.content(path)
        run = store.decode(data)
        plain, texts = _plain(data)
    except store.InvalidResult as fault:
        return None, [unreadable(fault)]
    damaged = [
        conclusion
        for module in OF_FILES
        for conclusion in rule.conclusions(module, run, but={PERSONAL})
    ]
    suspected = {text for text in texts if private.names_somebody(text)}
    named = map(rule.Fault, dict.fromkeys(private.disclosures_of(plain, suspected)))
    return run, [
        *damaged,
        *(rule.conclusion(privacy.personal_data, privacy.SEVERITY, fault) for fault in named),
    ]


def _plain(data: bytes) -> tuple[object, set[str]]:
    """Return a file as plain JSON, and its texts, those that no reader knows too, in bounds."""
    try:
        plain = msgspec.json.decode(data)
    except UnicodeDecodeError:  # in a name that no reader knows, and so none has decoded
        raise store.InvalidResult("$", "not UTF-8") from None
    except msgspec.DecodeError as error:  # in a value of such a name
        raise store.InvalidResult("$", str(error)) from None
    try:
        texts = bounds.texts(plain)
        bounds.check_names(data, len(texts))
        distinct = {*texts}
        bounds.check_length(distinct)
    except bounds.OutOfBoundsError as error:
        raise store.InvalidResult("$", str(error)) from None
    return plain, distinct


def unreadable(fault: store.InvalidResult) -> Conclusion:
    """The file is no stored run, or not a whole one.

    Take the file again from where it was made; it was cut off or edited.
    """
    return rule.conclusion(unreadable, "error", rule.Fault(str(fault)))


def broken(error: Exception) -> Conclusion:
    """A run makes Frobench fail where it is read, judged or drawn, so it has no page.

    Report it with the file: it holds something that should have been refused with its place.
    """
    message = f"{type(error).__name__} {raised.last_place(error)}: {error}"[:LONGEST_MESSAGE]
    return rule.conclusion(broken, "error", rule.Fault(message))


def _judge(run: Run, *modules: ModuleType) -> list[Conclusion]:
    return [conclusion for module in modules for conclusion in rule.conclusions(module, run)]
