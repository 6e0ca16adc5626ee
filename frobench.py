# SPDX-License-Identifier: MIT
"""The command: the verbs of `suite` and `reports` under one name, each imported when called."""

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from suite.model import Conclusion, ProfileName, Run

__version__ = "0.1.0"

RESULTS = Path("results")
SITE = Path("site")
FAILED, CANNOT, INTERRUPTED = 1, 3, 130
PROFILES = ("quick", "standard", "rigorous")  # spelled out, as suite.profiles takes a while

# ruff: noqa: PLC0415 - every verb imports its own, so that none waits for another's


def tells(verb: Callable[..., None]) -> Callable[..., None]:
    """Turn what keeps a verb from its end into one clear line and its exit code."""

    @wraps(verb)
    def wrapped(**options: Any) -> None:  # noqa: ANN401 - whatever the verb takes
        from suite.errors import CannotRunError, Interrupted, NothingSelectedError
        from suite.store import InvalidResult

        try:
            verb(**options)
        except NothingSelectedError as error:
            raise click.UsageError(str(error)) from None
        except CannotRunError as error:
            end(CANNOT, str(error))
        except InvalidResult as error:
            end(FAILED, str(error))
        except OSError as error:
            end(CANNOT, f"{error.filename or 'cannot write'}: {error.strerror or error}")
        except Interrupted as stopped:
            saved = f"; what was finished is in {stopped.stored}" if stopped.stored else ""
            where = f" --results {options['results']}" if options["results"] != RESULTS else ""
            again = f"`frobench run --resume {stopped.run}{where}` goes on"
            end(INTERRUPTED, f"interrupted{saved}; {again}")

    return wrapped


def end(code: int, message: str) -> NoReturn:
    """Say why, and end with an exit code."""
    click.echo(f"frobench: {message}", err=True)
    sys.exit(code)


paths = click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
expression = click.option("-k", "expression", default="", metavar="EXPR", help="Only these cases.")
devices = click.option("--devices", default="", metavar="LIST", help="Such as cpu,cuda:0.")
profile = click.option(
    "--profile", type=click.Choice(PROFILES), default="standard", show_default=True
)
as_json = click.option("--json", "as_json", is_flag=True, help="For programs.")
benchmarks = click.option(
    "--benchmarks",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(__file__).parent / "benchmarks",
    help="Folder of benchmarks, if not Frobench's own.",
)
results = click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=RESULTS,
    show_default=True,
    help="Folder of stored runs.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="frobench")
def main() -> None:
    """Measure what a GPU is worth to PyTorch, with intervals, and show it.

    Exit codes: 0 fine; 1 a case failed or a file is invalid; 2 usage; 3 the machine cannot
    do what was asked; 4 a comparison found a case slower; 130 interrupted.
    """


@main.command()
@expression
@profile
@devices
@benchmarks
@results
@click.option("--budget", type=click.FloatRange(min=1), metavar="SECONDS", help="For the run.")
@click.option("--launches", type=click.IntRange(min=1), metavar="N", help="Instead of a budget.")
@click.option("--deadline", type=click.FloatRange(min=1), metavar="SECONDS", help="For a case.")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Of inputs and orders.")
@click.option("--resume", metavar="RUN", help="Finish an interrupted run, or the `last` one.")
@tells
def run(devices: str, results: Path, benchmarks: Path, **wanted: Any) -> None:  # noqa: ANN401 - as the options say
    """Measure this machine and store the run; the last line is the stored file's path."""
    import signal

    from suite.runner import Request
    from suite.runner import run as measure
    from suite.running.progress import reporter

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # saves what is finished too
    request = Request(
        results=results.resolve(),
        benchmarks=benchmarks.resolve(),
        devices=names(devices),
        **wanted,
    )
    with reporter() as progress:
        path, stored = measure(request, progress)
    conclude(stored)
    click.echo(shown(path))
    if any(outcome.status == "failed" for outcome in stored.frobench.outcomes):
        sys.exit(FAILED)


@main.command("list")
@expression
@profile
@devices
@benchmarks
@as_json
@tells
def list_cases(
    expression: str, profile: "ProfileName", devices: str, benchmarks: Path, *, as_json: bool
) -> None:
    """Show the cases that a run would measure, without running them."""
    import tempfile

    import msgspec

    from suite.profiles import settings_for
    from suite.running.pilot import collect

    settings = settings_for(profile, names(devices), expression=expression)
    with tempfile.TemporaryDirectory() as folder:
        found = collect(settings, Path(folder), benchmarks.resolve())
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found)).decode())
        return
    exercise = ""
    for case in found.cases:
        if case.group != exercise:
            exercise = case.group
            click.echo(f"\n{exercise}: {found.exercises[exercise].question}")
        click.echo(f"  {case.name:<58} {case.title}")
    click.echo(f"\n{len(found.cases)} cases in the profile {profile}")


@main.command()
@paths
@tells
def validate(paths: tuple[Path, ...]) -> None:
    """Check stored runs, files or folders; a line for every fault."""
    found = stored_runs(paths)
    good = [path for path in found if is_valid(path, err=False)]
    for path in good:
        click.echo(f"{shown(path)}: valid")
    if good != found:
        sys.exit(FAILED)


@main.command()
@click.argument("base", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("new", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@as_json
@tells
def compare(base: Path, new: Path, *, as_json: bool) -> None:
    """Say for each case whether NEW is faster or slower than BASE."""
    import msgspec

    from suite import compare as comparing
    from suite import store

    if not all([is_valid(base), is_valid(new)]):
        sys.exit(FAILED)
    found = comparing.compare_runs(store.read(base), store.read(new))
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        table(comparing.COLUMNS, comparing.rows(found))
        click.echo("\n".join(comparing.summary(found)))
    sys.exit(comparing.exit_code(found))


@main.command()
@paths
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=SITE,
    show_default=True,
    help="Folder for the pages.",
)
@tells
def report(paths: tuple[Path, ...], output: Path) -> None:
    """Write pages from stored runs: those of `results/`, or of the paths given."""
    from reports import page

    found = stored_runs(paths)
    good = [path for path in found if is_valid(path)]
    for written in page.build(good, output) if good else ():
        click.echo(shown(written))
    if good != found:
        end(FAILED, "no page for what is not valid")


def stored_runs(paths: tuple[Path, ...]) -> list[Path]:
    """Return the stored runs at some paths, or those of `results/`."""
    from suite import store

    found = store.find(paths or [path for path in (RESULTS,) if path.exists()])
    if not found:
        where = ", ".join(map(str, paths)) or f"{RESULTS}/"
        raise click.UsageError(f"no stored run in {where}; `frobench run` makes one")
    return found


def is_valid(path: Path, *, err: bool = True) -> bool:
    """Tell whether a stored run is valid; print a line for every fault."""
    from suite import checks
    from suite.running.progress import short_name

    faults = checks.validate(path)
    for fault in faults:
        case = f"{short_name(fault.case)}: " if fault.case else ""
        click.echo(f"{shown(path)}: {fault.code}: {case}{fault.message}", err=err)
    return not faults


def names(devices: str) -> list[str]:
    """Return the names in a list that commas separate."""
    return [name.strip() for name in devices.split(",") if name.strip()]


def shown(path: Path) -> str:
    """Return a path as a person would type it here."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Print rows below their headings, as wide as they are."""
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        click.echo(line.rstrip())


def conclude(stored: "Run") -> None:
    """Tell a person what became of the run, and what its numbers may be trusted for."""
    from suite.running.progress import short_name
    from suite.units import counted

    counts = dict.fromkeys(("passed", "failed", "skipped"), 0)
    for outcome in stored.frobench.outcomes:
        counts[outcome.status] += 1
    click.echo(
        f"{counted(counts['passed'], 'case')} measured in "
        f"{counted(len(stored.frobench.launches), 'launch')}, {counts['failed']} failed, "
        f"{counts['skipped']} skipped",
        err=True,
    )
    by_code: dict[str, list[Conclusion]] = {}
    for conclusion in stored.frobench.conclusions:
        by_code.setdefault(conclusion.code, []).append(conclusion)
    for code, conclusions in by_code.items():
        click.echo(f"{code}: {len(conclusions)}. {conclusions[0].advice}", err=True)
        for conclusion in conclusions[:10]:
            where = f"{short_name(conclusion.case)}: " if conclusion.case else ""
            click.echo(f"  {where}{conclusion.message}", err=True)
        if len(conclusions) > 10:  # noqa: PLR2004 - the rest is on the page
            click.echo(f"  and {len(conclusions) - 10} more, in the report", err=True)


if __name__ == "__main__":
    main(prog_name="frobench")
