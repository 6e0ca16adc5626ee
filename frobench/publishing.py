# SPDX-License-Identifier: MIT
"""The verbs that prepare stored runs for others: `share` and `report`."""

import gc
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from frobench import options
from frobench.endings import end, exits_cleanly
from frobench.suite.exit_codes import FAILED

if TYPE_CHECKING:
    from frobench.reports.figures.files import Figures
    from frobench.suite.stored.types import Conclusion

# ruff: noqa: PLC0415 - every verb imports its own, so that none waits for another's


@click.command()
@click.argument("file", type=options.FILE)
@options.into(options.RESULTS, "Folder of stored runs.")
@click.option("--all", "everything", is_flag=True, help="Show every text in full.")
@exits_cleanly
def share(file: Path, output: Path, *, everything: bool) -> None:
    """Show what publishing FILE would reveal, and write it ready for a pull request.

    What names a person or a host is taken out, and the digest made anew. Call it where the run
    was made: only there are the names of the host and its user known. Nothing is sent anywhere.
    """
    from frobench.suite import personal_data, redaction
    from frobench.suite.checks.case_facts import busy
    from frobench.suite.stored import store
    from frobench.suite.terminal import disclosure
    from frobench.suite.terminal.output import is_honest, say, shown
    from frobench.suite.units import capital

    if not is_honest(file, but=redaction.MENDED):
        sys.exit(FAILED)
    run, removed = redaction.redact(store.read(file), personal_data.own_names())
    say(*disclosure.lines(run, removed, everything=everything), "")
    try:
        path = store.write_once(run, output)
    except FileExistsError as error:
        there = f"{shown(Path(error.filename))} is there already and says something else"
        end(FAILED, f"{there}; nothing was written: give another folder with -o")
    if told := busy(run):
        say(f"{capital(told)}: do not publish {shown(path)}; measure again.")
    else:
        say("Open a pull request that adds this file under results/:", shown(path))


def _web_folder(_context: click.Context, _option: click.Parameter, text: str | None) -> str:
    if text and not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", text):
        raise click.BadParameter("an address such as https://example.org/results/")
    return f"{text.rstrip('/')}/" if text else ""


def _licence(_context: click.Context, _option: click.Parameter, text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9.+-]+", text):
        raise click.BadParameter("a name such as CC0-1.0, from https://spdx.org/licenses/")
    return text


@click.command()
@options.paths
@options.into(options.SITE, "Folder for the pages.")
@click.option(
    "--reference", type=options.FILE, metavar="FILE", help="What FILEs are compared with."
)
@click.option(
    "--prices",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="What devices cost, instead of at launch.",
)
@click.option(
    "--figures", is_flag=True, help="Also draw each chart as SVG, PDF and PNG, beside its page."
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
@exits_cleanly
def report(  # noqa: PLR0913, PLR0917 - one for each option
    paths: tuple[Path, ...],
    output: Path,
    reference: Path | None,
    prices: Path | None,
    figures: bool,  # noqa: FBT001 - click gives it by name
    address: str,
    licence: str,
) -> None:
    """Write pages from stored runs: those of `results/`, or of the paths given.

    Two files or more are also laid side by side, on a page for who chooses between machines:
    compared with a card that everybody knows, or else the newest, or with the `--reference`.
    A file of prices has the columns of `reports/purchase/prices.csv`.

    With `--figures` the charts of a run lie in a folder beside its page, named like the page: ready
    for papers and slides.
    """
    from frobench.reports.making.workers import FEW_PAGES, Workers, collect_seldom

    workers = Workers()
    collect_seldom(FEW_PAGES)  # before what is imported next makes half a million objects
    from frobench.reports.files.metadata import Publication
    from frobench.reports.purchase import purchase
    from frobench.reports.purchase.prices import PATH, read
    from frobench.reports.site import build
    from frobench.suite.terminal.output import say, shown, stored_runs, tell
    from frobench.suite.units import counted

    gc.freeze()  # what was imported stays: to look through it at the end takes a fifth of a second
    broken = []

    def tell_broken(path: Path, conclusions: "list[Conclusion]") -> None:
        broken.append(path)
        tell(path, conclusions)

    if reference and not paths:
        raise click.UsageError("--reference is for files that are compared with it")
    asked = reference or sum(path.is_file() for path in paths) > 1
    paths = tuple(dict.fromkeys(filter(None, (*paths, reference))))
    try:
        known = read(prices or PATH)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    compared = purchase.Maker([path for path in paths if path.is_file()], reference, known)
    drawn: Figures | None = None
    if figures:
        from frobench.reports.figures import files as figure_files

        drawn = figure_files.Figures(output)
    stored_runs(paths, options.stored_here())  # or says that there is none
    made = build.build(
        paths or [options.stored_here()],
        output,
        tell=tell_broken,
        workers=workers,
        beside=[compared, drawn] if drawn else [compared],
        known=known,
        publication=Publication(address, licence),
        reference=reference,
    )
    earlier = [f"and {counted(len(made[2:]), 'page')} of earlier runs"] if made[2:] else []
    say(*map(shown, made[:2]), *earlier)  # the index, and the page of the newest run
    for folder in drawn.folders if drawn else ():
        say(f"figures: {shown(folder)}")
    if compared.made:
        say(f"machines side by side: {shown(output / purchase.PAGE)}")
    elif compared.refused:
        say(f"no machines side by side: {compared.refused}")
    elif asked:
        say("no machines side by side: fewer than two different whole runs were given as files")
    if broken:
        end(FAILED, "no page for what is not valid")
