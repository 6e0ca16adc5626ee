# SPDX-License-Identifier: MIT
"""The answers of a run in one paragraph, for a reader who sees such a page for the first time.

Every sentence is a finding's own, or follows from one: what a finding leaves open stays open
here, and what was not measured is said with its reason. A question that the run did not ask is
not mentioned.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from reports.findings.model import Finding, Section
from reports.views import Marks, doubtful
from suite.compare.alike import faults
from suite.model import Run
from suite.units import counted, format_estimate


def paragraph(run: Run, title: str, answered: Iterable[Section], marks: Marks) -> str:
    """Sum up a run: what it is, what it reaches, what costs time, and what to doubt.

    Parameters
    ----------
    title
        What the machine computes with.
    marks
        Words that belong beside a case's number.
    """
    told = list(_told({section.exercise: section.findings for section in answered}))
    cases = [case for _, finding in told for case in finding.cases]
    sentences = [f"This machine computes with {title}.", *(sentence for sentence, _ in told)]
    return " ".join([*sentences, *_caution(run, doubtful(cases, marks))])


def _told(findings: Mapping[str, tuple[Finding, ...]]) -> Iterator[tuple[str, Finding]]:
    """Yield sentences with the findings that they are made from."""
    products = findings.get("matmul", ())
    yield from _sentence(products, "crossover", "From which size an accelerator is worth it")
    if any(one.name == "speed-up" and one.value for one in products):
        yield from _sentence(products, "speed-up", "")
    peaks = [one for one in findings.get("attainable_peak", ()) if one.value]
    best = ("peak-", peaks) if peaks else ("best-rate-", products)
    yield from _sentence(best[1], best[0], "The best rate of its products", _first_precision)
    read = "What reading every result back costs"
    yield from _sentence(findings.get("norm_logging", ()), "penalty-", read)
    twice = "Whether two devices are twice as fast as one"
    yield from _sentence(findings.get("parallel_matmul", ()), "efficiency-", twice)


def _sentence(
    findings: Iterable[Finding],
    name: str,
    topic: str,
    spell: Callable[[Finding], str] = lambda finding: finding.answer,
) -> Iterator[tuple[str, Finding]]:
    """Yield the sentence of the finding of a name; what has an answer and is no CPU's goes first.

    Parameters
    ----------
    name
        With a dash at its end, that which a device's name follows.
    topic
        What was not measured, if it was not.
    """
    found = [one for one in findings if _is_called(one, name)]
    for one in sorted(found, key=lambda one: (one.value is None, "-cpu" in one.name))[:1]:
        absent = f"{topic} was not measured: {one.absent}."
        yield absent if one.absent else spell(one), one


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
