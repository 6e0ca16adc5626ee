# SPDX-License-Identifier: MIT
"""The command: the verbs of `suite` and `reports` under one name, each imported when called."""

import gc
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

HOME = Path(__file__).resolve().parent
"""The folder of this module, of `suite/`, `reports/` and `benchmarks/`."""


def hidden(spec: ModuleSpec | None) -> str | None:
    """Say which folder or module Python would import instead of a package of Frobench.

    spec : what Python would import under the package's name
    """
    if spec is None:
        return None
    folders = spec.submodule_search_locations or [str(spec.origin)]
    if (place := Path(folders[0]).resolve()) == HOME / spec.name:
        return None
    return (
        f"{place} hides Frobench's own package `{spec.name}`: rename it, or call frobench where "
        "Python does not find it (in a clone of Frobench: `python -m frobench`)"
    )


for _package in ("suite", "reports"):
    if _hidden := hidden(find_spec(_package)):
        sys.stderr.write(f"frobench: {_hidden}\n")
        sys.exit(3)

# ruff: noqa: E402 - the packages below are imported once they are known to be Frobench's
from suite.absent import absent, absent_module
from suite.printable import guard_terminal, printable

try:
    import click
except ModuleNotFoundError:
    sys.stderr.write(f"frobench: {absent('click')}\n")
    sys.exit(3)

if TYPE_CHECKING:
    from suite.stored.run import Conclusion, ProfileName, Run

__version__ = "0.1.0"

RESULTS = Path("results")
SITE = Path("site")
FAILED, CANNOT, INTERRUPTED = 1, 3, 130
UNIX_ONLY = "measuring needs Linux or macOS; on Windows, call frobench in WSL2"
PROFILES = ("quick", "standard", "rigorous")  # spelled out, as suite.profiles takes a while

# ruff: noqa: PLC0415 - every verb imports its own, so that none waits for another's


def tells(verb: Callable[..., None]) -> Callable[..., None]:
    """Turn what keeps a verb from its end into one clear line and its exit code."""

    @wraps(verb)
    def wrapped(**options: Any) -> None:  # noqa: ANN401 - whatever the verb takes
        try:
            told(verb, options)
        except ImportError as error:
            if (module := absent_module(error)) is None:
                raise
            end(CANNOT, absent(module))
        except KeyboardInterrupt:  # a run says what is saved
            end(INTERRUPTED, "interrupted while nothing was measured, so nothing is lost")

    return wrapped


def measures(verb: Callable[..., None]) -> Callable[..., None]:
    """Let a verb start launches, or refuse in one line where none can run.

    A launch imports modules from the current folder before all others, as `python -m` does.
    """

    @wraps(verb)
    def wrapped(**options: Any) -> None:  # noqa: ANN401 - whatever the verb takes
        if sys.platform == "win32":
            end(CANNOT, UNIX_ONLY)
        if problem := hidden(PathFinder.find_spec("suite", [str(Path.cwd()), str(HOME)])):
            end(CANNOT, problem)
        verb(**options)

    return tells(wrapped)


def told(verb: Callable[..., None], options: dict[str, Any]) -> None:
    """Do as `tells` says, once everything that this takes can be imported."""
    from suite.errors import (
        CannotRunError,
        CutShortError,
        Interrupted,
        NothingMeasuredError,
        NothingSelectedError,
    )
    from suite.stored.store import InvalidResult

    try:
        verb(**options)
    except NothingSelectedError as error:
        raise click.UsageError(str(error)) from None
    except CutShortError as error:
        end(CANNOT, f"{error}; everything finished stays; {resuming(error.run, options)}")
    except CannotRunError as error:
        end(CANNOT, str(error))
    except NothingMeasuredError as error:
        end(FAILED if error.failed else CANNOT, str(error))
    except InvalidResult as error:
        end(FAILED, str(error))
    except BrokenPipeError:  # whoever reads has read enough
        raise
    except OSError as error:
        end(CANNOT, f"{error.filename or 'cannot write'}: {error.strerror or error}")
    except Interrupted as stopped:
        saved = f"; what was finished is in {stopped.stored}" if stopped.stored else ""
        if stopped.trouble:
            saved = (
                f"; no partial file is written ({stopped.trouble}), but everything finished stays"
            )
        end(INTERRUPTED, f"interrupted{saved}; {resuming(stopped.run, options)}")


def resuming(run: str, options: dict[str, Any]) -> str:
    """Say how a run that was cut short is finished, with a command that can be typed."""
    results: Path = options["results"]
    where = "" if results == RESULTS else f" --results {shlex.quote(str(results))}"
    again = f"`frobench run --resume {run}{where}` goes on"
    if "file" in options:
        file = shlex.quote(str(options["file"]))
        again += f", and `frobench compare {file} NEW` then says what agrees"
    return again


def end(code: int, message: str) -> NoReturn:
    """Say why, and end with an exit code."""
    text = f"frobench: {message}"
    if sys.stderr.isatty():
        text = "\n".join(map(fitted, text.splitlines()))
    for line in text.splitlines():
        click.echo(printable(line), err=True)
    sys.exit(code)


def spelled(folder: Path) -> Path:
    """Return the whole path of a folder, which a run writes down: it must be UTF-8 for that."""
    whole = folder.resolve()
    try:
        str(whole).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(whole).decode(errors="replace")
        end(CANNOT, f"{shown}: a folder's path must be UTF-8; give or move to another one")
    return whole


def fitted(line: str) -> str:
    """Return a line in as many as the terminal's width asks for, with no command cut in two."""
    whole = re.sub("`[^`]*`", lambda command: command[0].replace(" ", "\0"), line)
    lines = textwrap.wrap(
        whole,
        shutil.get_terminal_size().columns,
        break_long_words=False,
        break_on_hyphens=False,
        subsequent_indent="  ",
    )
    return "\n".join(lines).replace("\0", " ")


class StoredPath(click.Path):
    """A path that is there, be it a link that leads nowhere: whoever reads it says what it is."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401 - as click's
        """Return the path, or say that there is none."""
        broken = os.path.lexists(value) and not os.path.exists(value)  # noqa: PTH110 - or a link to itself
        return Path(value) if broken else super().convert(value, param, ctx)


class RegularFile(click.Path):
    """A path of a regular file, which can be read without waiting."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401 - as click's
        """Return the path, or say that no such file is there."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        return path if path.is_file() else self.fail("not a regular file", param, ctx)


FILE = StoredPath(exists=True, dir_okay=False, readable=False, path_type=Path)
paths = click.argument(
    "paths", nargs=-1, type=StoredPath(exists=True, readable=False, path_type=Path)
)
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


across = click.option(
    "--across",
    multiple=True,
    metavar="FACT",
    callback=lambda _context, _option, facts: tuple(dict.fromkeys(facts)),
    help="Compare although FACT differs, such as software.torch; may be given again.",
)
wait = click.option("--wait", is_flag=True, help="Wait until no other run measures this machine.")


def into(folder: Path, what: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a verb be told where to write, and otherwise write into `folder`."""
    place = click.Path(file_okay=False, path_type=Path)
    return click.option("-o", "--output", type=place, default=folder, show_default=True, help=what)


class Command(click.Group):
    """The command, which prints nothing that gives orders to a terminal."""

    def main(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as click's
        """Do what is asked."""
        if not os.environ.get("_FROBENCH_COMPLETE"):  # else a shell reads it, and wants bytes
            guard_terminal()
        return super().main(*arguments, **options)


@click.group(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="frobench")
def main() -> None:
    """Measure what a GPU is worth to PyTorch, with intervals, and show it.

    Exit codes: 0 fine; 1 a case failed or a file is invalid; 2 usage; 3 what was asked cannot be
    done: the machine cannot, nothing was measured, or a comparison lacks what it needs; 4 a case
    became slower, or a result was not reproduced; 130 interrupted.
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
@click.option("--seed", type=click.IntRange(0, 2**53), metavar="N", help="Of inputs and orders.")
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Whose commit is stored; by default the repository of --benchmarks.",
)
@click.option("--peak", is_flag=True, help="Search 3 minutes more for the fastest product.")
@click.option("--resume", metavar="RUN", help="Finish an interrupted run, or the `last` one.")
@click.option("--once", metavar="CASE", help="Call one case once, for a profiler; store nothing.")
@click.option(
    "--trace",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="With --once: write a trace of the call for chrome://tracing or Perfetto.",
)
@wait
@measures
def run(
    devices: str,
    results: Path,
    benchmarks: Path,
    *,
    once: str | None,
    trace: Path | None,
    **wanted: Any,  # noqa: ANN401 - see `Request`
) -> None:
    """Measure this machine and store the run; the last line is the stored file's path.

    With --once, one case of any profile is set up, warmed up and called once in this process, to
    which a profiler can attach; see docs/profiling.md.
    """
    from suite.terminal.layout import say, shown

    if once is not None:
        call_once(once, trace, benchmarks, names(devices), wanted)
        return
    if trace is not None:
        raise click.UsageError("--trace is of the call that --once makes")
    path, stored = measure(results=results, benchmarks=benchmarks, devices=devices, **wanted)
    try:
        conclude(stored, err=True)
    finally:  # whatever becomes of the answers, the run is stored
        say(shown(path))
    sys.exit(failed(stored))


@main.command()
@click.argument("file", type=FILE)
@devices
@benchmarks
@results
@across
@wait
@measures
def reproduce(  # noqa: PLR0913 - one for each option
    file: Path,
    devices: str,
    benchmarks: Path,
    results: Path,
    across: tuple[str, ...],
    *,
    wait: bool,
) -> None:
    """Repeat the run in FILE, here, and say whether the results agree.

    Settings and devices are those of FILE; --devices chooses some of them. The last line is
    the new stored file's path. Exits with 4 if the results do not agree, by the verdicts of
    `compare`, and else with 1 if a case failed here. Where this is another machine, or another
    state of it, or too little could be compared, nobody can say: then the findings are shown side
    by side, and it exits with 3.
    """
    from reports.compare import verdicts
    from suite import checks
    from suite.compare import others
    from suite.terminal.layout import is_valid, say, shown

    if not is_valid(file):
        sys.exit(FAILED)
    first = checks.read(file)
    require_facts(across, first)
    path, again = measure(
        results=results, benchmarks=benchmarks, devices=devices, like=first, wait=wait
    )
    conclude(again, err=True)
    code = verdicts.reproduction(first, again, others([file.parent, path.parent]), across)
    say(shown(path))
    sys.exit(failed(again) or code)


def measure(results: Path, benchmarks: Path, devices: str, **wanted: Any) -> "tuple[Path, Run]":  # noqa: ANN401 - see `Request`
    """Measure what is wanted, and return the stored file and its path."""
    from suite.errors import Interrupted
    from suite.run.interruptions import Interruptions
    from suite.run.progress import reporter
    from suite.run.request import Request
    from suite.run.runner import run as to_the_end
    from suite.stored import store

    request = Request(
        results=spelled(results),
        benchmarks=spelled(benchmarks),
        devices=names(devices),
        **wanted,
    )
    with Interruptions() as interruptions:
        try:
            with reporter() as progress:
                return to_the_end(request, progress, interruptions)
        except Interrupted as stopped:
            if stopped.stored is not None:
                conclude(store.read(stopped.stored), err=True)
            raise


def call_once(
    case: str, trace: Path | None, benchmarks: Path, devices: list[str], wanted: dict[str, Any]
) -> None:
    """Call one case once, and say that this is no measurement."""
    from suite.once.single_case import Once, run_once
    from suite.stored.names import name_of
    from suite.terminal.layout import say, shown
    from suite.units import format_seconds

    measuring = ("budget", "launches", "deadline", "project", "peak", "resume")
    if given := [f"--{name}" for name in measuring if wanted[name]]:
        raise click.UsageError(f"--once measures nothing: leave out {', '.join(given)}")
    asked = Once(
        case=case,
        benchmarks=spelled(benchmarks),
        devices=devices,
        expression=wanted["expression"],
        seed=wanted["seed"] or 0,
        trace=trace and trace.absolute(),
    )
    called = run_once(asked, waiting=(lambda line: say(line, err=True)) if wanted["wait"] else None)
    where = " and ".join(called.devices)
    say(f"{name_of(called.case)}: called once on {where}, after the warm-up; its result is right.")
    took = format_seconds(called.seconds)
    say(f"The call took {took}. This is no measurement: nothing is stored.")
    if trace is not None:
        say(f"Trace, for https://ui.perfetto.dev or chrome://tracing: {shown(trace.absolute())}")


def conclude(judged: "Run", *, err: bool, every: bool = False, cases: bool = False) -> None:
    """Print the answers of a run, then what makes them doubtful.

    every : all answers, not only the first of each exercise
    cases : every case instead of the answers
    """
    from suite import checks
    from suite.terminal import answers
    from suite.terminal.layout import doubts, say, width

    columns = width()
    try:
        from reports.summary import plain
    except ImportError as error:  # what measures may have less than what reports
        if (module := absent_module(error)) is None:
            raise
        say(f"no answers here: {absent(module)}", err=err)
    else:
        run = plain.answers(checks.credible(judged))
        say(*[""] * err, *answers.heading(run, columns), "", err=err)  # apart from the progress
        chosen = answers.case_lines(run.cases, columns)
        say(*(chosen if cases else answers.lines(run, columns, every=every)), err=err)
    say(*doubts(judged, columns), err=err)


def failed(stored: "Run") -> int:
    """Return the exit code of a run: 1 if a case failed."""
    return FAILED * any(outcome.status == "failed" for outcome in stored.frobench.outcomes)


@main.command()
@click.option("--range", required=True, metavar="A..B", help="Commits, such as v1.0..main.")
@expression
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Whose commits; by default the repository of --benchmarks.",
)
@benchmarks
@profile
@devices
@click.option(
    "--launches",
    type=click.IntRange(min=7),  # fewer show no change, however large
    default=10,
    show_default=True,
    metavar="N",
    help="Of each end of the range.",
)
@click.option("--build", default="", metavar="COMMAND", help="Call it in each commit's folder.")
@click.option(
    "--path", "paths", multiple=True, metavar="DIR", help="Where a commit's modules lie, not src."
)
@click.option("--seed", type=click.IntRange(0, 2**53), metavar="N", help="Of inputs and orders.")
@results
@wait
@measures
def history(
    devices: str,
    results: Path,
    benchmarks: Path,
    paths: tuple[str, ...],
    **wanted: Any,  # noqa: ANN401 - as the options say
) -> None:
    """Find the commit at which a case changed.

    Commits of a git project are measured in turn, each in fresh processes that import the code of
    its working tree: first both ends of the range, then commits between them, then the commit found
    and the one before it anew. The project's own folder stays as it is. A commit that cannot be
    measured is skipped. In all, a false alarm in at most 5% of searches. Exits with 4 if a case
    became slower, and with 3 if nothing could be compared.
    """
    from suite.history.history import HistoryInterrupted
    from suite.history.history import history as to_the_end
    from suite.history.measuring import HistoryRequest
    from suite.run.interruptions import Interruptions
    from suite.run.progress import reporter
    from suite.terminal import history_words
    from suite.terminal.layout import say, show, shown

    request = HistoryRequest(
        results=spelled(results),
        benchmarks=spelled(benchmarks),
        devices=names(devices),
        paths=list(paths),
        **wanted,
    )
    with Interruptions() as interruptions:
        try:
            with reporter() as progress:
                done = to_the_end(request, progress, interruptions)
        except HistoryInterrupted as stopped:
            saved = "".join(f"; saved: {shown(path)}" for path in stopped.stored)
            end(INTERRUPTED, f"interrupted, and no working tree is left{saved}")
    for table in history_words.tables(done):
        show(table)
    say(*history_words.sentences(done, request))
    if done.stored:
        say(f"{len(done.stored)} stored runs, one a commit, in {shown(done.stored[0].parent)}/")
    sys.exit(history_words.exit_code(done.findings))


@main.command("list")
@expression
@profile
@devices
@benchmarks
@results
@as_json
@measures
def list_cases(  # noqa: PLR0913 - one for each option
    expression: str,
    profile: "ProfileName",
    devices: str,
    benchmarks: Path,
    results: Path,
    *,
    as_json: bool,
) -> None:
    """Show the cases that a run would measure, their work and what it should take.

    Nothing is run. The times are those of the newest stored run of this kind of machine, as far
    as it goes.
    """
    import tempfile

    from suite.profiles import settings_for
    from suite.run.forecast.expected import expect, newest
    from suite.run.pilot import collect
    from suite.terminal import listing
    from suite.terminal.layout import dump, say, width

    settings = settings_for(profile, names(devices), expression=expression)
    with tempfile.TemporaryDirectory() as folder:
        found, declared = collect(settings, Path(folder), spelled(benchmarks))
    expected = expect(found, declared, settings, newest(results / declared.machine))
    if as_json:
        dump(expected)
    else:
        say(*listing.lines(expected, width()))


@main.command()
@results
@as_json
@tells
def doctor(results: Path, *, as_json: bool) -> None:
    """Show what is there, and what is wrong with it, with what mends it.

    Nothing is measured. Exits with 3 if an accelerator or PyTorch cannot be used.
    """
    import shutil

    from suite.doctor import examine
    from suite.terminal import doctor_page
    from suite.terminal.layout import dump, say

    found = examine(results.resolve())
    if as_json:
        dump(found)
    else:
        say(
            *doctor_page.lines(
                found.there, found.troubles, shutil.get_terminal_size((100, 0)).columns
            )
        )
    sys.exit(CANNOT * found.unusable)


@main.command()
@paths
@tells
def validate(paths: tuple[Path, ...]) -> None:
    """Check stored runs, files or folders; a line for every fault, doubt and change since.

    Exits with 1 if a run is not valid: its file is damaged, or it cannot be honest.
    """
    from suite.terminal.layout import is_honest, say, shown, stored_runs

    found = stored_runs(paths, RESULTS)
    good = [path for path in found if is_honest(path, err=False)]
    say(*(f"{shown(path)}: valid" for path in good))
    if good != found:
        sys.exit(FAILED)


@main.command()
@click.argument("file", type=FILE)
@into(RESULTS, "Folder of stored runs.")
@click.option("--all", "everything", is_flag=True, help="Show every text in full.")
@tells
def share(file: Path, output: Path, *, everything: bool) -> None:
    """Show what publishing FILE would tell, and write it ready for a pull request.

    What names a person or a host is taken out, and the digest made anew. Call it where the run
    was made: only there are the names of the host and its user known. Nothing is sent anywhere.
    """
    from suite import publish
    from suite.personal import private
    from suite.stored import store
    from suite.terminal import disclosure
    from suite.terminal.layout import is_honest, say, shown

    if not is_honest(file, but=publish.MENDED):
        sys.exit(FAILED)
    first = store.read(file)
    run, removed = publish.redact(first, private.own_names())
    say(*disclosure.lines(run, removed, everything=everything), "")
    try:
        path = store.write(run, output)
    except FileExistsError as there:
        path = Path(there.filename)
        if store.content(path) != store.encode(run):
            end(
                FAILED,
                f"{shown(path)} is there already and says something else; nothing was written: "
                "give another folder with -o",
            )
    say("Open a pull request that adds this file under results/:", shown(path))


def in_form(name: str, what: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a verb be asked for one of several forms, each by an option of its own."""
    return click.option(f"--{name}", "form", flag_value=name, help=what)


@main.command()
@click.argument("file", type=FILE)
@click.option("--all", "every", is_flag=True, help="Every answer, not one of each exercise.")
@click.option("--cases", is_flag=True, help="Every case instead of the answers.")
@in_form("markdown", "As a table for a pull request or a wiki.")
@in_form("json", "Every answer and every case, for programs.")
@in_form("csv", "Every answer, or with --cases every case, a row each.")
@tells
def show(file: Path, form: str | None, *, every: bool, cases: bool) -> None:
    """Print the answers of the stored run in FILE, then its doubts.

    A case that failed or was left out stands with its reason among the --cases.
    """
    gc.disable()  # half a million objects are made, and all of them stay to the end

    from suite import checks
    from suite.terminal.layout import is_valid

    if not is_valid(file):
        sys.exit(FAILED)
    judged = checks.read(file)
    if form is None:
        conclude(judged, err=False, every=every, cases=cases)
        return
    from reports.summary import plain
    from suite.terminal import answer_files

    run = plain.answers(checks.credible(judged))
    writers = {
        "json": lambda: answer_files.as_json(run),
        "csv": lambda: answer_files.cases_as_csv(run.cases) if cases else answer_files.as_csv(run),
        "markdown": lambda: (
            answer_files.cases_as_markdown(run.cases) if cases else answer_files.as_markdown(run)
        ),
    }
    click.echo(writers[form]())


@main.command()
@click.argument("file", type=FILE)
@in_form("github-action-benchmark", "For its tool customSmallerIsBetter.")
@in_form("bencher", "Bencher Metric Format.")
@in_form("openmetrics", "For Prometheus and what else reads its text.")
@tells
def export(file: Path, form: str | None) -> None:
    """Print the estimate of each case in FILE, with its interval, for a dashboard.

    An estimate is the median over launches. Cases with an error are left out.
    """
    from suite import checks
    from suite.export import FORMATS
    from suite.terminal.layout import is_valid

    if form is None:
        raise click.UsageError(f"choose a format: --{', --'.join(FORMATS)}")
    if not is_valid(file):
        sys.exit(FAILED)
    click.echo(FORMATS[form](checks.credible(checks.read(file))))


@main.command()
@click.argument("base", type=FILE)
@click.argument("new", metavar="[NEW]", type=FILE, required=False)
@across
@click.option(
    "--allow-missing", is_flag=True, help="Exit with 0 although headline cases are not compared."
)
@click.option("--purchase", is_flag=True, help="Two machines side by side, without verdicts.")
@as_json
@tells
def compare(  # noqa: PLR0913 - one for each option
    base: Path,
    new: Path | None,
    across: tuple[str, ...],
    *,
    allow_missing: bool,
    purchase: bool,
    as_json: bool,
) -> None:
    """Say for each case whether NEW is faster or slower than BASE.

    With BASE alone, compare the two versions in each of its cases that measures a body against
    another version. How far separate runs of a machine differ by themselves is learned from its
    other runs beside BASE and NEW and in results/.

    Exits with 4 if any case is slower. Otherwise exits with 3 if nothing could be compared, or if a
    headline case of BASE failed in NEW, is missing there or could not be compared; and else with 0.
    All cases together raise a false alarm in at most 5% of comparisons. With --purchase there are
    no verdicts, and it exits with 0.
    """
    gc.disable()  # a million objects are made, and most of them stay to the end

    from reports.compare import verdicts
    from suite import checks
    from suite.compare import others
    from suite.terminal.layout import is_valid

    with suppress(OSError):  # what cannot be read is refused below
        if new is not None and new.samefile(base):
            raise click.UsageError("BASE and NEW are the same file; name two runs")
    if new is None and (purchase or across):
        option = "--purchase" if purchase else "--across"
        raise click.UsageError(f"{option} compares two runs, each with an environment of its own")
    if purchase and (across or allow_missing):
        raise click.UsageError("--purchase gives no verdicts; leave --across and --allow-missing")
    given = [path for path in (base, new) if path is not None]
    if not all([is_valid(path) for path in given]):  # noqa: C419 - so that every fault is shown
        sys.exit(FAILED)
    runs = [checks.read(path) for path in given]
    if len(runs) == 1:
        sys.exit(verdicts.versions(*runs, as_json=as_json, allow_missing=allow_missing))
    first, second = runs
    if purchase:
        sys.exit(verdicts.machines(first, second, as_json=as_json))
    require_facts(across, first, second)
    stored = RESULTS / Path(first.frobench.environment.machine).name
    known = others([stored, *(path.parent for path in given)])
    sys.exit(
        verdicts.runs(first, second, known, across, as_json=as_json, allow_missing=allow_missing)
    )


def require_facts(across: Sequence[str], *runs: "Run") -> None:
    """Refuse a name that is no fact of the environments of some runs."""
    from suite.compare import unknown_fact

    if error := unknown_fact(across, runs):
        raise click.UsageError(f"--across: {error}")


def _web_folder(_context: click.Context, _option: click.Parameter, text: str | None) -> str:
    """Return the address of a folder of the web, with the slash at its end."""
    if text and not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", text):
        raise click.BadParameter("an address such as https://example.org/results/")
    return f"{text.rstrip('/')}/" if text else ""


def _licence(_context: click.Context, _option: click.Parameter, text: str) -> str:
    """Return the name of a licence, in letters that such names have."""
    if not re.fullmatch(r"[A-Za-z0-9.+-]+", text):
        raise click.BadParameter("a name such as CC0-1.0, from https://spdx.org/licenses/")
    return text


@main.command()
@paths
@into(SITE, "Folder for the pages.")
@click.option("--reference", type=FILE, metavar="FILE", help="What FILEs are held against.")
@click.option(
    "--prices",
    type=RegularFile(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="What devices cost, instead of at launch.",
)
@click.option("--address", callback=_web_folder, metavar="URL", help="Where the pages will lie.")
@click.option(
    "--licence",
    default="CC-BY-4.0",
    show_default=True,
    callback=_licence,
    metavar="SPDX",
    help="Under which others may use the data.",
)
@tells
def report(  # noqa: PLR0913, PLR0917 - one for each option
    paths: tuple[Path, ...],
    output: Path,
    reference: Path | None,
    prices: Path | None,
    address: str,
    licence: str,
) -> None:
    """Write pages from stored runs: those of `results/`, or of the paths given.

    Two files or more are also laid side by side, on a page for who chooses between machines:
    beside the first that measured an accelerator, or the `--reference`. A file of prices has the
    columns of `reports/purchase/prices.csv`.

    A folder below `results/.runs/` is a run that goes on: its page shows what it has so far.
    """
    from reports.site.workers import FEW_PAGES, collect_seldom

    collect_seldom(FEW_PAGES)  # before what is imported next makes half a million objects
    from reports.files.metadata import Publication
    from reports.purchase import purchase
    from reports.purchase.prices import PATH, read
    from reports.site import build
    from suite.run.folder import watch
    from suite.terminal.layout import say, shown, stored_runs, tell

    gc.freeze()  # what was imported stays: to look through it at the end takes a fifth of a second

    broken = []

    def is_broken(path: Path, found: "list[Conclusion]") -> None:
        broken.append(path)
        tell(path, found, err=True)

    if reference and not paths:
        raise click.UsageError("--reference is for the files that are held against it")
    asked = reference or sum(path.is_file() for path in paths) > 1
    paths = tuple(dict.fromkeys((*paths, *([reference] if reference else []))))
    try:
        known = read(prices or PATH)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    beside = purchase.Maker([path for path in paths if path.is_file()], reference, known)
    with watch.as_files(paths) as found:
        stored_runs(tuple(found), RESULTS)  # or says that there is none
        made = build.build(
            found or [RESULTS],
            output,
            tell=is_broken,
            beside=beside,
            known=known,
            publication=Publication(address, licence),
        )
        say(*map(shown, made))
    if beside.made:
        say(f"machines side by side: {shown(output / purchase.PAGE)}")
    elif asked:
        say("no machines side by side: fewer than two different whole runs were given as files")
    if broken:
        end(FAILED, "no page for what is not valid")


def names(devices: str) -> list[str]:
    """Return the names in a list that commas separate."""
    return [name.strip() for name in devices.split(",") if name.strip()]


if __name__ == "__main__":
    main(prog_name="frobench")
