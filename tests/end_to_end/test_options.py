# SPDX-License-Identifier: MIT
"""Which values each option takes, at its bounds and beside them, and which files a verb."""

from pathlib import Path

import click
import pytest

from frobench.command import main

TAKEN = [
    ("run --seed", ["0", str(2**53)], ["-1", str(2**53 + 1), "x"]),
    ("run --budget", ["1", "1.5"], ["0.9", "x"]),
    ("run --deadline", ["1"], ["0.9"]),
    ("run --launches", ["1"], ["0", "1.5"]),
    ("run --profile", ["quick", "standard", "rigorous"], ["slow"]),
    ("run --benchmarks", ["FOLDER"], ["FILE", "nowhere"]),
    ("run --project", ["FOLDER"], ["FILE", "nowhere"]),
    ("run --results", ["FOLDER", "nowhere"], []),
    ("run --trace", ["FILE", "new.json"], ["FOLDER"]),
    ("run --label", ["node 1"], ["", " "]),
    ("list --benchmarks", ["FOLDER"], ["FILE", "nowhere"]),
    ("fleet --deadline", ["1"], ["0.9"]),
    ("fleet --patience", ["1"], ["0.9"]),
    ("fleet --benchmarks", ["FOLDER", "nowhere"], []),
    ("history --range", ["A..B"], ["A", "A...B", "-A..B"]),
    ("history --range A..B --launches", ["6"], ["5", "1.5"]),
    ("report -o", ["FOLDER", "new"], ["FILE"]),
    ("fleet -o", ["FOLDER", "new"], ["FILE"]),
    ("show", ["FILE"], ["nowhere.json"]),
    ("validate", ["FILE"], ["nowhere.json"]),
    ("reproduce", ["FILE"], ["nowhere.json"]),
    ("export --bencher", ["FILE"], ["nowhere.json"]),
]


def parsed(words: list[str]) -> bool:
    """Tell whether a verb takes these options; nothing is done."""
    try:
        main.commands[words[0]].make_context(words[0], words[1:], resilient_parsing=False)
    except click.UsageError:
        return False
    return True


@pytest.mark.parametrize(("option", "taken", "refused"), TAKEN, ids=lambda value: str(value)[:20])
def test_an_option_takes_what_it_can_and_refuses_its_neighbours(
    option: str, taken: list[str], refused: list[str], tmp_path: Path
) -> None:
    places = {"FILE": str(tmp_path / "file.json"), "FOLDER": str(tmp_path)}
    (tmp_path / "file.json").touch()
    for right, values in ((True, taken), (False, refused)):
        for value in values:
            assert parsed([*option.split(), places.get(value, value)]) is right, value


def test_what_is_not_told_is_as_the_help_says() -> None:
    def defaults(verb: str, *words: str) -> dict[str, object]:
        return main.commands[verb].make_context(verb, [*words]).params

    run, fleet = defaults("run"), defaults("fleet")
    assert defaults("history", "--range", "A..B")["launches"] == 10
    assert (run["profile"], str(run["results"]), run["devices"]) == ("standard", "results", [])
    assert (run["label"], run["wait"], run["peak"], run["nodes"]) == ("", False, False, False)
    assert {run[name] for name in ("budget", "launches", "seed", "resume")} == {None}
    assert (fleet["address"], fleet["patience"], fleet["deadline"]) == ("auto", 120.0, None)
    assert (str(fleet["output"]), str(defaults("report")["output"])) == ("site", "site")
