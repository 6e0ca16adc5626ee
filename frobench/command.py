# SPDX-License-Identifier: MIT
"""The command itself, and its verbs."""

import atexit
import gc
import os
import sys
from typing import Any

import click

from frobench import __version__
from frobench.judging import compare, export, show, validate
from frobench.many_runs import fleet, history
from frobench.measuring import reproduce, run
from frobench.preview import doctor, list_cases
from frobench.publishing import report, share
from frobench.settings import defaults
from frobench.suite.printable import guard_terminal

atexit.register(gc.disable)  # the system takes back at the end what no search for garbage would


class Command(click.Group):
    """The command, which prints nothing that gives orders to a terminal."""

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:  # noqa: ANN401 - as click's
        """Read what is asked."""
        if not os.environ.get("_FROBENCH_COMPLETE"):  # else a shell reads it, and wants bytes
            guard_terminal()
        return super().make_context(*arguments, **options)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, and let the settings of the project be the defaults of its options."""
        name, verb, rest = super().resolve_command(ctx, args)
        if name is not None:
            ctx.default_map = {name: defaults(name)}
        return name, verb, rest


@click.group(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="frobench")
def main() -> None:
    """Measure what a GPU is worth to PyTorch, with intervals, and show it.

    Exit codes: 0 fine; 1 a case failed or a file is invalid; 2 usage; 3 what was asked cannot be
    done: the machine cannot, nothing was measured, or a comparison shows too little; 4 a case
    became slower, or a result was not reproduced; 130 interrupted.
    """


_verbs: tuple[click.Command, ...] = (compare, doctor, export, fleet, history, list_cases)
_verbs += (report, reproduce, run, share, show, validate)
for _verb in _verbs:  # click would cut a sentence at a line's end
    _verb.short_help = _verb.get_short_help_str(sys.maxsize)
    main.add_command(_verb)
