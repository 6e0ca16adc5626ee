# SPDX-License-Identifier: MIT
"""No command gives a terminal orders that a file, a file's name or an argument holds."""

import json
import unicodedata
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from frobench.command import main
from frobench.suite import personal_data
from frobench.suite.export import FORMATS
from frobench.suite.printable import as_json
from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from tests.instruments.faults.judging import made, put

OF_ESCAPE = "\x1b]0;owned\x07\x1b[2J\x1b[31m\x1bc"
"""A title, an empty screen, a colour, a reset."""
OF_C1 = "\x9b5n\x90q\x9c\x9d0;owned\x9c"
ORDERS = f"{OF_ESCAPE}{OF_C1}\u202eowned\u2066\u200b\r\x08\x7f"
"""With text from right to left, what nobody sees, and what writes over a line."""
FIXED = ("$.machine_info.python", "$.frobench.profile", "$.frobench.settings.profile", "severity")
VERBS = (
    ("validate", "FILE"),
    ("compare", "FILE", "OTHER"),
    *(("compare", "FILE", "OTHER", *more) for more in (["--json"], ["--purchase"])),
    ("compare", "FILE", "OTHER", "--purchase", "--json"),
    ("compare", "FILE"),
    ("show", "FILE"),
    *(("show", "FILE", f"--{form}") for form in ("all", "cases", "json", "csv", "markdown")),
    *(("show", "FILE", "--cases", f"--{form}") for form in ("csv", "markdown")),
    *(("export", "FILE", f"--{form}") for form in FORMATS),
    ("report", "FILE", "OTHER", "-o", f"site{ORDERS}"),
    ("share", "FILE"),
    ("reproduce", "FILE", "--devices", ORDERS),
)
MISUSE = (
    (ORDERS,),
    (f"--{ORDERS}",),
    ("validate", ORDERS),
    ("show", f"--{ORDERS}"),
    *(("run", f"--{option}", ORDERS) for option in ("profile", "resume", "benchmarks")),
    *(("report", f"--{option}", ORDERS) for option in ("address", "prices", "licence")),
    ("export", "FILE", f"--{ORDERS}"),
)


def harmful(text: str) -> set[str]:
    """Return the characters of a text that a terminal obeys, or that hide others."""
    return {one for one in text if one != "\n" and unicodedata.category(one).startswith("C")}


def spoilt(where: str, text: str) -> str:
    return text if not text or any(one in where for one in FIXED) else f"{text}{ORDERS}"


def told_everywhere() -> Run:
    """Return a run that says what it should not in every text that may be any."""
    run = made()
    run.frobench.outcomes[5].reason = "it failed"
    statuses = [one.status for one in run.frobench.outcomes]
    plain: Run = personal_data.rewritten(run, spoilt)
    for outcome, status in zip(plain.frobench.outcomes, statuses, strict=True):
        outcome.status = status
    put(plain, "benchmarks.*.extra_info.work", made().benchmarks[0].extra_info.work)
    return plain


def told_where_any_text_may_be() -> Run:
    """Return a run that could be shared but for what its words would do to a terminal."""
    run = made()
    put(run, "frobench.outcomes.5.reason", f"it failed {ORDERS}")
    put(run, "benchmarks.*.extra_info.title", ORDERS)
    for one in run.frobench.exercises.values():
        one.question = one.explanation = ORDERS
    run.frobench.environment.unknown["cpu.governor"] = ORDERS
    run.frobench.environment.software.variables["OMP_PLACES"] = ORDERS
    return run


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Store runs whose texts and names are harmful, and what is no run, and go there."""
    monkeypatch.chdir(tmp_path)
    Path("other.json").write_bytes(store.encode(made()))
    for name, text in {
        "everywhere": store.encode(told_everywhere()),
        "anywhere": store.encode(told_where_any_text_may_be()),
        "damaged": store.encode(made()).replace(b'"quick"', json.dumps(ORDERS).encode()),
        "cut": store.encode(told_everywhere())[:5000],
    }.items():
        Path(f"{name}{ORDERS}.json").write_bytes(text)


def called(arguments: tuple[str, ...], name: str) -> Result:
    """Call the command in this process with a stored file."""
    files = {"FILE": f"{name}{ORDERS}.json", "OTHER": "other.json"}
    return CliRunner().invoke(main, [files.get(one, one) for one in arguments])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        *(("everywhere", one) for one in VERBS),
        *(("anywhere", one) for one in VERBS if one[0] in {"show", "share", "report"}),
        *((name, one) for name in ("damaged", "cut") for one in VERBS[:2]),
    ],
    ids=ascii,
)
@pytest.mark.usefixtures("stored")
def test_no_verb_passes_on_what_a_file_says(name: str, arguments: tuple[str, ...]) -> None:
    shown = called(arguments, name)
    assert shown.exception is None or isinstance(shown.exception, SystemExit), shown.exception
    assert shown.output
    assert harmful(shown.output) == set()


@pytest.mark.parametrize("arguments", MISUSE, ids=ascii)
@pytest.mark.usefixtures("stored")
def test_no_wrong_use_comes_back_raw(arguments: tuple[str, ...]) -> None:
    shown = called(arguments, "anywhere")
    assert shown.exit_code in {1, 2, 3}
    assert shown.output
    assert harmful(shown.output) == set()


def test_json_says_the_same_with_its_characters_escaped() -> None:
    data = {ORDERS: [f"a\n{ORDERS}\U000e0001", "\N{NO-BREAK SPACE}\N{MULTIPLICATION SIGN}"]}
    text = as_json(data)
    assert (harmful(text), json.loads(text)) == (set(), data)
