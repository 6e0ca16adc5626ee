# SPDX-License-Identifier: MIT
"""The answers of a run in one paragraph, for a reader who sees such a page for the first time.

Every sentence is a finding's own, or follows from one: what a finding leaves open stays open
here, and what was not measured is said with its reason. A question that the run did not ask is
not mentioned.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from reports.findings import RULES
from reports.findings.finding import ABSENT, Finding, Section, exercise_title
from reports.summary.views import Marks, doubtful
from suite.compare.alike import faults
from suite.stored.run import Run
from suite.units import counted, format_estimate


def paragraph(run: Run, answered: Iterable[Section], marks: Marks) -> str:
    """Sum up a run: what it reaches, what costs time, what was not measured, and what to doubt.

    Parameters
    ----------
    marks
        Words that belong beside a case's number.
    """
    chosen = dict(_chosen({section.exercise: section.findings for section in answered}))
    cases = [case for finding in chosen.values() for case in finding.cases]
    return " ".join(
        [
            *(_words(finding) for finding in chosen.values() if not finding.absent),
            *_not_measured(chosen),
            *_caution(run, doubtful(cases, marks)),
        ]
    )


def _chosen(findings: Mapping[str, tuple[Finding, ...]]) -> Iterator[tuple[str, Finding]]:
    """Yield the findings that a summary is made from, with what each is about."""
    products = findings.get("matmul", ())
    yield from _first(products, "crossover", "the size from which an accelerator is faster")
    if any(one.name == "speed-up" and one.value for one in products):
        yield from _first(products, "speed-up", "the speedup of an accelerator")
    peaks = [one for one in findings.get("attainable_peak", ()) if one.value]
    of_chip, name = (peaks, "peak-") if peaks else ([*products], "best-rate-")
    yield from _first(of_chip, name, "the best rate of a product")
    yield from _first(findings.get("norm_logging", ()), "penalty-", "the cost of reading results")
    pairs = findings.get("parallel_matmul", ())
    yield from _first(pairs, "efficiency-", "the parallel efficiency of two devices")
    for exercise in (name for name in findings if name not in RULES):
        yield from _own(exercise_title(exercise), findings[exercise])


def _own(title: str, findings: Iterable[Finding]) -> Iterator[tuple[str, Finding]]:
    """Yield the first number of an exercise without rules of its own, named by its title."""
    lead = next((one for one in findings if one.value), None)
    if lead is not None:
        yield title, replace(lead, answer=f"{title}: {lead.answer}")


def _first(findings: Iterable[Finding], name: str, topic: str) -> Iterator[tuple[str, Finding]]:
    """Yield the finding of a name; what has an answer and is no CPU's goes first.

    Parameters
    ----------
    name
        With a dash at its end, that which a device's name follows.
    """
    candidates = [one for one in findings if _is_called(one, name)]
    candidates.sort(key=lambda one: (one.value is None, "-cpu" in one.name))
    yield from ((topic, one) for one in candidates[:1])


def _words(finding: Finding) -> str:
    is_rate = finding.name.startswith(("peak-", "best-rate-"))
    return _first_precision(finding) if is_rate else finding.answer


def _not_measured(chosen: Mapping[str, Finding]) -> Iterator[str]:
    """Yield a sentence that names what was not measured, by the reason."""
    topics: dict[str, list[str]] = {}
    for topic, finding in chosen.items():
        if finding.absent:
            topics.setdefault(finding.absent, []).append(topic)
    if topics:
        named = "; ".join(f"{', '.join(of)} ({reason})" for reason, of in topics.items())
        yield f"{ABSENT}{named}."


def _is_called(finding: Finding, name: str) -> bool:
    return finding.name.startswith(name) if name.endswith("-") else finding.name == name


def _first_precision(finding: Finding) -> str:
    """Cut the list of precisions after the first, but leave why there is no percent of a peak."""
    first, *others = finding.answer.split("; ")
    if finding.value is None or format_estimate(finding.value, finding.unit) not in first:
        return finding.answer
    reason = [one for one in others if one.startswith("no percent")]
    return f"{'; '.join([first, *reason]).partition('. ')[0].removesuffix('.')}."


def _caution(run: Run, words: Iterable[str]) -> Iterator[str]:
    """Yield what to know before believing all this."""
    for error in faults(run, ""):
        yield f"The whole run has an error, so none of its figures is shown: {error}."
    failed = sum(outcome.status == "failed" for outcome in run.frobench.outcomes)
    if listed := ", ".join(words):
        yield f"Some of the cases behind this are marked: {listed}."
    if failed:
        yield f"{counted(failed, 'case')} failed; no answer uses them."
    if not run.frobench.complete:
        yield "The run is partial: not all of its launches have ended."
