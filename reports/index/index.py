# SPDX-License-Identifier: MIT
"""The index: a row for each device, by its score, and every stored run by its date.

Both tables are whole without a script, which filters and sorts them and lays runs side by side.
The earlier runs of a machine follow its newest run.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from markupsafe import Markup

from frobench.reports.files.metadata import Head
from frobench.reports.making.broken import Broken
from frobench.reports.purchase import machines as side_by_side
from frobench.reports.purchase import purchase, script
from frobench.reports.purchase.prices import Price
from frobench.reports.summary.model import Summary
from frobench.reports.web.render import render
from frobench.suite.checks.case_facts import moment
from frobench.suite.units import counted

PRINTED = [chr(code) for code in range(ord("#"), ord("~") + 1) if chr(code) not in "\\<>&"]
"""The digits of packed logarithms, which need no escape."""


def page(  # noqa: PLR0913, PLR0917 - one for each thing that goes in
    summaries: Iterable[Summary],
    known: Sequence[Price] = (),
    beside: Sequence[str] = (),
    head: Head | None = None,
    broken: Sequence[Broken] = (),
    reference: str = "",
) -> str:
    """Return the index of runs, in whatever order they come.

    known : what devices cost, for runs that a reader lays side by side
    beside : pages on which runs are side by side already
    head : what its head says to machines
    broken : files without a page
    reference : the page of the run that others are compared with at first; empty for the usual one
    """
    machines = _machines(summaries)
    runs = [run for machine in machines for run in machine]
    rows = [*_rows(machines)]
    compares = any(run.faults or run.axes.axes or run.scored.seconds.centres for run in runs)
    found: dict[str, Any] = {}
    if compares:
        devices = [*dict.fromkeys(run.device_id for run in runs)]
        found = side_by_side.data(runs, known, reference)
        found["device"] = [devices.index(run.device_id) for run in runs]
    built = _built_devices(found) if compares else None
    return render(
        "index.html",
        scripts=script.INDEX if compares else (),
        styles=(purchase.STYLE, "index.css"),
        title="Which device for which work" if compares or not runs else "Stored runs",
        description=f"{counted(len(runs), 'stored run')} of {counted(len(machines), 'machine')}",
        home="index.html",
        head=head,
        beside=beside,
        broken=broken,
        rows=rows,
        machines=len(machines),
        devices=len(found.get("groups", [])),
        built=built,
        nothing=defaultdict(str),
        data=found and found | {"runs": [*map(_packed, found["runs"])]},
    )


def _machines(summaries: Iterable[Summary]) -> list[list[Summary]]:
    """Return the runs of each machine, all newest first."""
    machines: dict[str, list[Summary]] = {}
    for run in sorted(summaries, key=lambda run: (_utc(run.datetime), run.href), reverse=True):
        machines.setdefault(run.machine_id, []).append(run)
    return [*machines.values()]


def _packed(run: dict[str, Any]) -> dict[str, Any]:
    """Return what the script needs of a run; its address and title are in its row of the table.

    Logarithms are most of it: each is two digits of `PRINTED`, or two spaces where there is none.
    """
    packed = {name: value for name, value in run.items() if name not in {"href", "title"}}
    for quantity in {"seconds", "joules"} & packed.keys():
        logs, base = packed[quantity]["logs"], len(PRINTED)
        if max(filter(None, logs), default=0) < base**2:
            spelled = (
                "  " if one is None else PRINTED[one // base] + PRINTED[one % base] for one in logs
            )
            packed[quantity] = packed[quantity] | {"logs": "".join(spelled)}
    return packed


def _built_devices(found: dict[str, Any]) -> dict[str, str]:
    """Return the tables of devices and a sentence about them, by the page's script; or why not."""
    try:
        built: Any = script.call("index.built", found)
    except script.MissingEngineError as error:
        return {"lead": "", "table": "", "published": "", "missing": str(error)}
    tables = {name: Markup(built[name]) for name in ("table", "published")}  # noqa: S704 - escaped
    return {"lead": built["lead"], "missing": "", **tables}


def _rows(machines: Sequence[Sequence[Summary]]) -> Iterator[dict[str, Any]]:
    """Yield a row of the table for each run.

    The newest row of a machine has the number of its runs, earlier ones have 0; a script shows
    these when asked. Marks have whether they are bad.
    """
    for machine in machines:
        for age, run in enumerate(machine):
            version, plus, build = (run.environment.software.torch or "").partition("+")
            yield {
                "href": run.href,
                "title": run.title,
                "code": run.code,
                "history": 0 if age else len(machine),
                "when": _utc(run.datetime)[:16].replace("T", " "),
                "torch": (version, plus + build),
                "profile": run.profile,
                "launches": run.launches,
                "cases": run.cases,
                "marks": [*_marks(run)],
            }


def _utc(text: str) -> str:
    """Spell an ISO 8601 time in UTC to the second; what is none stays as it is."""
    when = moment(text)
    return when.replace(tzinfo=None).isoformat(timespec="seconds") if when else text


def _marks(run: Summary) -> Iterator[tuple[str, bool]]:
    if not run.complete:
        yield "partial", False
    if run.faults:
        yield "errors", True
    if run.doubt:
        yield run.doubt, False
    if run.failed:
        yield f"{run.failed} failed", True
