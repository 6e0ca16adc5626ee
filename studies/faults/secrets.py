# SPDX-License-Identifier: MIT
"""Secrets in every free text of a run, in changing words, before it is shared."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle
from pathlib import Path
from random import Random

import pytest

from frobench.suite import personal_data, redaction
from frobench.suite.launch.case import refusal
from frobench.suite.stored import store
from frobench.suite.terminal import disclosure
from studies.faults.trials import Extent, Trial
from tests.instruments.faults.judging import made
from tests.instruments.faults.secrets import PLACED, RAISED, plant
from tests.instruments.runs.filled import filled

PROMISE = (
    "Of the text of an error that a benchmark raises, none of the planted secrets is stored: keys, "
    "tokens, passwords, names, hosts, addresses, serial numbers and "
    f"folders. A shared file, and what `share` shows of it, holds none of {len(PLACED)} paths and "
    "addresses that an older file may have in any part where free text could be. The search finds "
    "them in every text of the file's schema."
)
RUNS = 200
FRAMES = (
    *("{}", "RuntimeError: {}", "({})", "'{}'", "<{}>", "[{}]"),
    *("{}\n{}", "see {}; then {}", "{}."),
)
"""What may stand around a text that holds a secret."""


def trials(extent: Extent) -> list[Trial]:
    """Return runs that hold every secret."""
    first = extent.seed * 10**6
    return [Trial(__name__, "planted", first + n, len(PLACED)) for n in range(RUNS)]


def attempt(trial: Trial, folder: Path) -> Iterable[str]:
    """Raise every secret, share a run of an older version, and search what comes out."""
    chance = Random(trial.number)  # noqa: S311 - no secret
    for secret, text in {**RAISED, **PLACED}.items():
        framed = chance.choice(FRAMES).format(text, text)
        kind = chance.choice((RuntimeError, OSError, pytest.skip.Exception))
        if secret in refusal(0, "case", "failed", kind(framed), Path("bench_it.py")).reason:
            yield f"{secret!r} is stored of an error"
    texts = [chance.choice(FRAMES).format(text, text) for text in PLACED.values()]
    chance.shuffle(texts)
    run = made(accelerators=1)
    if missing := {*texts} - plant(run, texts):
        yield f"{len(missing)} texts found no room"
    shared, removed = redaction.redact(run, frozenset())
    path = folder / "shared.json"
    path.write_bytes(store.encode(shared))
    stored = [text for _, text in personal_data.texts(json.loads(path.read_bytes()))]
    stored += _everywhere(texts)
    shown = "\n".join(disclosure.lines(shared, removed, everything=True))
    published = shown.partition("What would be published")[2]
    for secret in PLACED:
        if any(secret in text for text in stored):
            yield f"{secret!r} is stored"
        if secret in published:
            yield f"{secret!r} is shown"


def _everywhere(texts: Sequence[str]) -> Iterator[str]:
    """Yield what is left of texts in every place of the schema, as sharing searches them."""

    def clean(where: str, text: str) -> str:
        return personal_data.hide(text, where=where)

    run = personal_data.rewritten(filled(cycle(texts)), clean)
    return (text for _, text in personal_data.texts(run))
