# SPDX-License-Identifier: MIT
"""Packed estimates give every ratio to its last printed digit, whoever unpacks them."""

import json
import math
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from reports.packing import DIGITS, ERROR_LEVELS, GAP, LEAST_ERROR, STEP, Packed, Timing, pack
from reports.render import HERE
from suite.units import format_value

CASES = [f"case {index}" for index in range(300)]
Runs = list[dict[str, Timing]]


def made_up(runs: int, cases: list[str]) -> Runs:
    random = Random(6)  # noqa: S311 - no secret
    speeds = [random.uniform(-3, 3) for _ in range(runs)]
    typical = {case: random.uniform(-12, -2) for case in cases}
    return [
        {
            case: Timing(
                math.exp(random.gauss(typical[case], 0.2) - speed),
                None if random.random() < 0.1 else math.exp(random.uniform(-10, -1)),
            )
            for case in cases
            if random.random() > 0.05
        }
        for speed in speeds
    ]


def unpack(packed: Packed, run: int) -> dict[int, tuple[int, float | None]]:
    """Return steps and standard error by the case's place: what the format says, once more."""
    text, found, case = iter(packed["runs"][run]), {}, 0
    for first in text:
        if first == GAP:
            case += DIGITS.index(next(text)) * 88 + DIGITS.index(next(text))
            continue
        steps = DIGITS.index(first)
        for _ in range(packed["widths"][case] - 1):
            steps = 88 * steps + DIGITS.index(next(text))
        level = DIGITS.index(next(text))
        error = LEAST_ERROR * math.exp((level - 1) / ERROR_LEVELS) if level else None
        found[case] = (packed["least"][case] + steps, error)
        case += 1
    return found


def test_ratios_of_unpacked_times_are_right_to_the_last_of_three_digits() -> None:
    runs = made_up(8, CASES)
    packed = pack(runs, CASES)
    reference, *others = (unpack(packed, place) for place in range(len(runs)))
    for run, found in zip(runs[1:], others, strict=True):
        for place in reference.keys() & found.keys():
            true = run[CASES[place]].seconds / runs[0][CASES[place]].seconds
            shown = math.exp((found[place][0] - reference[place][0]) * STEP)
            digits = [float(format_value(ratio, "").replace(",", "")) for ratio in (true, shown)]
            unit = 10.0 ** (math.floor(math.log10(true)) - 2)
            assert abs(digits[0] - digits[1]) <= 1.01 * max(unit, 10 * unit * (true >= 1000))


def test_standard_errors_are_within_a_tenth_and_their_absence_stays() -> None:
    (run,) = made_up(1, CASES)
    found = unpack(pack([run], CASES), 0)
    assert [CASES[place] for place in found] == list(run)
    for place, (_, error) in found.items():
        true = run[CASES[place]].error
        assert (error is None) == (true is None)
        assert error is None or error == pytest.approx(true, rel=0.1)


def test_errors_beyond_the_scale_are_its_ends() -> None:
    run = {"none": Timing(1.0, 0.0), "huge": Timing(1.0, 1e9)}
    none, huge = unpack(pack([run], list(run)), 0).values()
    assert none[1] == pytest.approx(LEAST_ERROR)
    assert huge[1] is not None
    assert huge[1] > 1


def test_times_may_lie_any_distance_apart() -> None:
    runs: Runs = [{"a": Timing(seconds, None)} for seconds in (5e-324, 1e-9, 1.0, 1.7e308)]
    packed = pack(runs, ["a"])
    for place, run in enumerate(runs):
        steps, _ = unpack(packed, place)[0]
        assert steps * STEP == pytest.approx(math.log(run["a"].seconds), abs=STEP)


def test_runs_with_few_cases_in_common_stay_small() -> None:
    runs: Runs = [{f"{index} of its own": Timing(1.0, 0.1)} for index in range(20_000)]
    packed = pack(runs, [case for run in runs for case in run])
    assert max(map(len, packed["runs"])) <= 3 + 3 * (20_000 // 88**2 + 1)
    assert list(unpack(packed, 19_999)) == [19_999]


def test_three_characters_an_estimate_that_json_in_a_page_spells_as_they_are() -> None:
    runs = made_up(3, CASES)
    text = "".join(pack(runs, CASES)["runs"])
    assert len(text) <= 3 * len(runs) * len(CASES)
    assert json.dumps(text) == f'"{text}"'
    assert not set(text) & set("<>&")


@pytest.mark.skipif(not shutil.which("node"), reason="there is no node; browsers test it too")
def test_the_page_s_script_unpacks_the_same(tmp_path: Path) -> None:
    cases = [*CASES[:40], "wide", *(f"rare {index}" for index in range(8000)), "last"]
    runs = made_up(2, CASES[:40])
    runs[0] |= {"wide": Timing(1e-300, 0.1), "last": Timing(2.0, None)}
    runs[1] |= {"wide": Timing(1e300, 0.1)}
    packed = pack(runs, cases)
    script = tmp_path / "unpack.js"
    script.write_text(
        (HERE / "static" / "packing.js").read_text(encoding="utf-8")
        + f"const packed = {json.dumps(packed)};"
        + "console.log(JSON.stringify(packed.runs.map((_, run) => packing.unpack(packed, run))"
        + ".map((one) => [one.cases, one.logs, one.errors].map((part) => Array.from(part)))));",
        encoding="utf-8",
    )
    node = shutil.which("node") or "node"
    printed = subprocess.run([node, str(script)], check=True, capture_output=True, text=True).stdout
    for run, (places, logs, errors) in enumerate(json.loads(printed)):
        expected = unpack(packed, run)
        assert places == list(expected)
        assert logs == [steps for steps, _ in expected.values()]
        assert errors == [error and pytest.approx(error) for _, error in expected.values()]
