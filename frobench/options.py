# SPDX-License-Identifier: MIT
"""The options and arguments that several verbs take."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from frobench.suite.checkout import BENCHMARKS

RESULTS = Path("results")
SITE = Path("site")
PROFILES = ("quick", "standard", "rigorous")  # spelled out: suite.profiles takes a while
WORKLOADS = ("training", "decode", "small", "data-loading", "vision")  # likewise; the usual first


class StoredPath(click.Path):
    """A path that is there, be it a link that leads nowhere: whoever reads it says what it is."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401 - as click's
        """Return the path, or say that there is none."""
        broken = os.path.lexists(value) and not os.path.exists(value)  # noqa: PTH110 - or a link to itself
        return Path(value) if broken else super().convert(value, param, ctx)


def _label(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str:
    if value is None:
        return ""
    if not value.strip():
        raise click.BadParameter("it is empty; without a name, equal nodes count as one machine")
    if os.fsencode(value).decode(errors="replace") != value:
        raise click.BadParameter("it is not UTF-8")
    return value


FILE = StoredPath(exists=True, dir_okay=False, readable=False, path_type=Path)
paths = click.argument(
    "paths", nargs=-1, type=StoredPath(exists=True, readable=False, path_type=Path)
)
expression = click.option("-k", "expression", default="", metavar="EXPR", help="Only these cases.")
devices = click.option(
    "--devices",
    envvar="FROBENCH_DEVICES",
    default="",
    metavar="LIST",
    callback=lambda _context, _option, names: [*filter(None, map(str.strip, names.split(",")))],
    help="Such as cpu,cuda:0.",
)
profile = click.option(
    "--profile",
    envvar="FROBENCH_PROFILE",
    type=click.Choice(PROFILES),
    default="standard",
    show_default=True,
)
budget = click.option(
    "--budget",
    envvar="FROBENCH_BUDGET",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="For a run.",
)
launches = click.option(
    "--launches",
    envvar="FROBENCH_LAUNCHES",
    type=click.IntRange(min=1),
    metavar="N",
    help="Instead of a budget.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="For programs.")
benchmarks = click.option(
    "--benchmarks",
    envvar="FROBENCH_BENCHMARKS",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=BENCHMARKS,
    help="Folder of benchmarks, if not Frobench's own.",
)
label = click.option(
    "--label",
    envvar="FROBENCH_LABEL",
    callback=_label,
    metavar="NAME",
    help="Name of this node among nodes of its kind; stored as a seal.",
)
results = click.option(
    "--results",
    envvar="FROBENCH_RESULTS",
    type=click.Path(path_type=Path),
    default=RESULTS,
    show_default=True,
    help="Folder of stored runs.",
)
across = click.option(
    "--across",
    multiple=True,
    metavar="FACT",
    callback=lambda _context, _option, facts: tuple(dict.fromkeys(facts)),
    help="Compare although FACT differs, such as software.torch; may be given again.",
)
seed = click.option(
    "--seed", type=click.IntRange(0, 2**53), metavar="N", help="Of inputs and orders."
)
wait = click.option("--wait", is_flag=True, help="Wait until no other run measures this machine.")


def project(what: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a verb be told a project's folder, which is otherwise the repository of --benchmarks."""
    folder = click.Path(exists=True, file_okay=False, path_type=Path)
    text = f"{what}; by default the repository of --benchmarks."
    return click.option(
        "--project", envvar="FROBENCH_PROJECT", type=folder, metavar="DIR", help=text
    )


def stored_here() -> Path:
    """Return the folder of stored runs, for verbs without --results."""
    context = click.get_current_context(silent=True)
    known = os.environ.get("FROBENCH_RESULTS") or (context and context.lookup_default("results"))
    return Path(known or RESULTS)


def into(folder: Path, what: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a verb be told where to write, and otherwise write into `folder`."""
    path = click.Path(file_okay=False, path_type=Path)
    return click.option("-o", "--output", type=path, default=folder, show_default=True, help=what)


def in_forms(forms: Mapping[str, str]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a verb be asked for a form by an option with its help, as `form`; the last one counts."""

    def with_options(verb: Callable[..., None]) -> Callable[..., None]:
        for name in reversed([*forms]):  # the first is applied last
            verb = click.option(f"--{name}", "form", flag_value=name, help=forms[name])(verb)
        return verb

    return with_options
