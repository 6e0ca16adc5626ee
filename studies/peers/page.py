# SPDX-License-Identifier: MIT
"""The figures as tables of the page."""

from collections.abc import Callable

from frobench.suite.units import format_seconds, format_value
from studies.peers.bodies import QUEUED
from studies.peers.figures import Effort, Figures
from studies.tables import filled, table

NONE = "\N{EM DASH}"
_ERROR = ("error", "relative", "readings")
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"


def fill(page: str, figures: Figures) -> str:
    """Return the page with every table that it marks as the figures have it."""
    return filled(page, lambda name: TABLES[name](figures))


def run(figures: Figures) -> str:
    """Say where and when the figures were made."""
    versions = ", ".join(f"{tool.name} {tool.version}" for tool in figures.tools)
    minutes = format_value(figures.seconds / 60, "", digits=2)
    failed = f" Failed: {', '.join(figures.failed)}." if figures.failed else ""
    return (
        f"Machine `{figures.machine}`, Python {figures.python}, {figures.date}, in {minutes} "
        f"minutes. {versions}.{failed}"
    )


def goals(figures: Figures) -> str:
    """Return what was asked of Frobench, what was missed first."""
    return table(
        ("goal", "seen", "result"),
        [
            (goal.goal, goal.seen, "met" if goal.met else "**missed**")
            for goal in sorted(figures.goals, key=lambda goal: goal.met)
        ],
    )


def tools(figures: Figures) -> str:
    """Return how each tool was used."""
    return table(
        ("tool", "as used", "interval", "called different by"),
        [(tool.name, tool.usage, tool.interval_rule, tool.alarm_rule) for tool in figures.tools],
    )


def waits(figures: Figures) -> str:
    """Return how near each tool comes to waits that record their own length."""
    return table(
        ("wait", "tool", "reports", "beyond recorded", "its own call", *_ERROR),
        [
            (
                wait.body,
                wait.tool,
                format_value(wait.reported, "s", digits=4),
                format_seconds(wait.excess),
                format_seconds(wait.own_call),
                format_seconds(wait.error),
                _percent(wait.error / wait.recorded),
                f"{2 * wait.error / wait.two_readings:+.1f}",
            )
            for wait in figures.waits
        ],
        words=2,
    )


def devices(figures: Figures) -> str:
    """Return what each tool says of a product on an accelerator."""
    return table(
        (
            "device",
            "tool",
            "waits",
            "reports",
            "the device works",
            "a user waits",
            "reports / wait",
        ),
        [
            (
                seen.device,
                seen.tool,
                "as the tool does" if seen.body == QUEUED else "in the body",
                format_seconds(seen.reported),
                NONE if seen.work is None else format_seconds(seen.work),
                NONE if seen.wait is None else format_seconds(seen.wait),
                NONE if seen.wait is None else f"{seen.reported / seen.wait:.3f}",
            )
            for seen in figures.devices
        ],
        words=3,
    )


def empty(figures: Figures) -> str:
    """Return what each tool says of a body that does nothing."""
    return table(
        ("tool", "a call of nothing"),
        [(seen.tool, format_seconds(seen.reported)) for seen in figures.empty],
        words=1,
    )


def efforts(figures: Figures) -> str:
    """Return what it takes each tool to say +-1%, and whether it is true."""
    return table(
        (
            *("body", "tool", "value", "spread", "seen", f"{PLUS_MINUS}1% from", "half-width"),
            *("covers", "honest", "alone", f"among {figures.together}"),
        ),
        [_effort(effort) for effort in figures.efforts],
        words=2,
    )


def _effort(effort: Effort) -> tuple[str, ...]:
    return (
        effort.body,
        effort.tool,
        format_seconds(effort.value),
        _percent(effort.spread),
        str(effort.pool),
        NONE if effort.processes is None else str(effort.processes),
        NONE if effort.half_width is None else _percent(effort.half_width),
        NONE if effort.coverage is None else _percent(effort.coverage),
        "yes" if effort.honest else "**never**",
        NONE if effort.alone is None else format_seconds(effort.alone),
        NONE if effort.shared is None else format_seconds(effort.shared),
    )


def alarms(figures: Figures) -> str:
    """Return how often each tool's user is told that identical code differs."""
    return table(
        ("tool", "pairs", "called different", "share", "at most (95%)", "shuffled"),
        [
            (
                seen.tool,
                str(seen.pairs),
                str(seen.different),
                _percent(seen.different / seen.pairs) if seen.pairs else NONE,
                _percent(seen.upper) if seen.pairs else NONE,
                NONE if seen.shuffled is None else _percent(seen.shuffled),
            )
            for seen in figures.alarms
        ],
        words=1,
    )


TABLES: dict[str, Callable[[Figures], str]] = {
    "run": run,
    "goals": goals,
    "tools": tools,
    "waits": waits,
    "devices": devices,
    "empty": empty,
    "efforts": efforts,
    "alarms": alarms,
}


def _percent(fraction: float) -> str:
    return format_value(fraction, "1", digits=2)
