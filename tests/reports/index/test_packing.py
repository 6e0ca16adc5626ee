# SPDX-License-Identifier: MIT
"""Packed estimates give every ratio to its last printed digit, whoever unpacks them."""

import json
import math
import shutil
import subprocess
from pathlib import Path
from random import Random

import numpy as np
import pytest

from frobench.reports.index.packing import (
    DIGITS,
    ERROR_LEVELS,
    GAP,
    LEAST_ERROR,
    ONE_MISSING,
    Packed,
    pack,
    pack_error,
)
from frobench.reports.table.estimates import STEP
from frobench.reports.web.render import HERE
from frobench.suite.units import format_value

CASES = [f"case {index}" for index in range(300)]
ERRORS = [None, 0.0, 2e-5, 0.004, 0.03, 0.5, 1e9]
Runs = list[dict[str, float]]
"""Logarithms of seconds by case."""


def made_up(runs: int, cases: list[str]) -> Runs:
    random = Random(6)  # noqa: S311 - no secret
    speeds = [random.uniform(-3, 3) for _ in range(runs)]
    typical = {case: random.uniform(-12, -2) for case in cases}
    return [
        {case: random.gauss(typical[case], 0.2) - speed for case in cases if random.random() > 0.05}
        for speed in speeds
    ]


def packed_of(runs: Runs, cases: list[str]) -> Packed:
    return pack(np.array([[run.get(case, math.nan) for case in cases] for run in runs]))


def unpack(packed: Packed, run: int) -> dict[int, int]:
    """Return steps by the case's place: what the format says, said once more."""
    text, found, case = iter(packed["runs"][run]), {}, 0
    for first in text:
        if first == GAP:
            case += DIGITS.index(next(text)) * 88 + DIGITS.index(next(text))
            continue
        if first == ONE_MISSING:
            case += 1
            continue
        steps = DIGITS.index(first)
        for _ in range(packed["widths"][case] - 1):
            steps = 88 * steps + DIGITS.index(next(text))
        found[case] = packed["least"][case] + steps
        case += 1
    return found


def unpack_error(digit: str) -> float | None:
    level = DIGITS.index(digit)
    return LEAST_ERROR * math.exp((level - 1) / ERROR_LEVELS) if level else None


def digits(ratio: float, decade: float) -> int:
    """Return three digits of a ratio as they are printed."""
    return round(100 * float(format_value(ratio / decade, "")))


def test_ratios_of_unpacked_times_are_right_to_the_last_of_three_digits() -> None:
    runs = made_up(8, CASES)
    packed = packed_of(runs, CASES)
    reference, *others = (unpack(packed, place) for place in range(len(runs)))
    for run, found in zip(runs[1:], others, strict=True):
        assert [CASES[place] for place in found] == list(run)
        for place in reference.keys() & found.keys():
            true = math.exp(run[CASES[place]] - runs[0][CASES[place]])
            packed_ratio = math.exp((found[place] - reference[place]) * STEP)
            decade = 10.0 ** math.floor(math.log10(true))
            assert abs(digits(true, decade) - digits(packed_ratio, decade)) <= 1


def test_standard_errors_are_within_a_tenth_unless_they_are_off_the_scale() -> None:
    none, least, *told, most = [unpack_error(pack_error(error)) for error in ERRORS]
    assert none is None
    assert least == LEAST_ERROR
    assert told == [pytest.approx(error, rel=0.075) for error in ERRORS[2:-1]]
    assert most is not None
    assert most > 1


def test_times_may_lie_any_distance_apart() -> None:
    runs: Runs = [{"a": math.log(seconds)} for seconds in (5e-324, 1e-9, 1.0, 1.7e308)]
    packed = packed_of(runs, ["a"])
    for place, run in enumerate(runs):
        assert unpack(packed, place)[0] * STEP == pytest.approx(run["a"], abs=STEP)


def test_runs_with_few_cases_in_common_stay_small() -> None:
    logs = np.full((100, 20_000), math.nan)
    for run in range(100):
        logs[run, 200 * run + 199] = 1.0
    packed = pack(logs)
    assert max(map(len, packed["runs"])) <= 2 + 3 * (20_000 // 88**2 + 1)
    assert list(unpack(packed, 99)) == [19_999]


def test_two_characters_an_estimate_that_json_in_a_page_spells_as_they_are() -> None:
    runs = made_up(3, CASES)
    text = "".join(packed_of(runs, CASES)["runs"])
    missing = 3 * len(CASES) - sum(map(len, runs))
    assert len(text) <= 2 * sum(map(len, runs)) + 3 * missing
    for spelled in (text, DIGITS + GAP + ONE_MISSING):
        assert json.dumps(spelled) == f'"{spelled}"'
        assert not set(spelled) & set("<>&")


@pytest.mark.skipif(not shutil.which("node"), reason="there is no node; browsers test it too")
def test_the_page_s_script_unpacks_the_same(tmp_path: Path) -> None:
    cases = [*CASES[:40], "wide", *(f"rare {index}" for index in range(8000)), "last"]
    runs = made_up(2, CASES[:40])
    runs[0] |= {"wide": -690.0, "last": 0.7}
    runs[1] |= {"wide": 690.0}
    packed = packed_of(runs, cases)
    errors = "".join(map(pack_error, ERRORS))
    script = tmp_path / "unpack.js"
    script.write_text(
        (HERE / "static" / "packing.js").read_text(encoding="utf-8")
        + f"const packed = {json.dumps(packed)}, errors = {json.dumps(errors)};"
        "const found = packed.runs.map((_, run) => packing.unpack(packed, run));"
        "console.log(JSON.stringify([found.map((one) => [[...one.cases], [...one.steps]]),"
        "[...errors].map((_, place) => packing.error(errors, place)), packing.STEP]));",
        encoding="utf-8",
    )
    node = shutil.which("node") or "node"
    printed = subprocess.run([node, str(script)], check=True, capture_output=True, text=True).stdout
    found, found_errors, step = json.loads(printed)
    expected = [unpack(packed, place) for place in range(2)]
    assert found == [[list(one), list(one.values())] for one in expected]
    assert found_errors == [(error := unpack_error(one)) and pytest.approx(error) for one in errors]
    assert step == STEP
