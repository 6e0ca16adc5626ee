# SPDX-License-Identifier: MIT
"""The simulated accelerator behaves as an accelerator does, and its times are those it is given.

What the devices do is judged by their own account, in simulated time; of the host's clock only
this is asked: that no wait ends early.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.simulated.simulated_accelerator.spec import Spec
from tests.simulated.simulated_accelerator.tape import Entry, Tape, Value

FOLDER = Path(__file__).parent / "simulated"
KERNEL = 5e-6
FLOPS, SHORT_FLOPS, BANDWIDTH = 1e9, 4e9, 10e9
SLOW = {"flops": {"float32": FLOPS, "bfloat16": SHORT_FLOPS}, "memory": 64 << 20}
LONG = KERNEL + 2 * 512**3 / FLOPS
"""Seconds of the product that the scenes wait for: longer than any disturbance should be."""


def start(
    *scenes: str, spec: dict[str, Any] | None = None, **environment: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "scenes", *scenes],
        env=os.environ
        | {"PYTHONPATH": str(FOLDER), "SIM_SPEC": json.dumps(spec or {})}
        | environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def play(*scenes: str, spec: dict[str, Any] | None = None, **environment: str) -> dict[str, Any]:
    """Play scenes in a process that has the backend installed; return what they saw."""
    process = start(*scenes, spec=spec, **environment)
    seen, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return dict(json.loads(seen))


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """Play on two devices without fault."""
    return play(
        "presence",
        "values",
        "training",
        "durations",
        "waiting",
        "reading",
        "overlaps",
        "read_back_without_waiting",
        "memory",
        "mistakes",
        spec=SLOW,
    )


def test_it_arrives_by_autoload_and_is_what_torch_calls_the_accelerator(
    seen: dict[str, Any],
) -> None:
    presence = seen["presence"]
    assert presence["accelerator"] == "sim"
    assert presence["count"] == 2
    assert presence["name"] == "Simulated accelerator"
    assert presence["third"] == [
        "AcceleratorError",
        "sim error: invalid device ordinal 2 (2 visible)",
    ]


def test_values_are_those_of_the_cpu(seen: dict[str, Any]) -> None:
    exact = {name for name, error in seen["values"].items() if error < 1e-5}
    assert exact == seen["values"].keys() - {"short floats"}
    assert 0 < seen["values"]["short floats"] < 0.1


def test_networks_train_on_both_devices_at_once(seen: dict[str, Any]) -> None:
    cpu, first, second = seen["training"]
    assert first == pytest.approx(cpu, rel=1e-5)
    assert second == pytest.approx(cpu, rel=1e-5)


@pytest.mark.parametrize(
    ("operation", "seconds"),
    [
        ("product", KERNEL + 2 * 256**3 / FLOPS),
        ("short product", KERNEL + 2 * 256**3 / SHORT_FLOPS),
        ("addition", KERNEL + 3 * 4 * 256**2 / BANDWIDTH),
        ("from pageable", 20e-6 + 4 * 256**2 / 1e9),
        ("from pinned", 10e-6 + 4 * 256**2 / 4e9),
        ("to pageable", 20e-6 + 4 * 256**2 / 1e9),
        ("to pinned", 10e-6 + 4 * 256**2 / 4e9),
        ("to the other", 15e-6 + 4 * 256**2 / 2e9),
    ],
)
def test_an_operation_takes_the_time_that_the_rates_say(
    seen: dict[str, Any], operation: str, seconds: float
) -> None:
    assert seen["durations"][operation] == pytest.approx(seconds)


def test_a_launch_returns_at_once_and_only_waiting_for_its_device_ends_it(
    seen: dict[str, Any],
) -> None:
    waiting = seen["waiting"]
    assert not waiting["early"]
    assert not waiting["after the other"]
    assert waiting["late"]
    assert waiting["waited until the end"]


def test_events_tell_what_a_device_took_and_nothing_before_it_has_ended(
    seen: dict[str, Any],
) -> None:
    waiting = seen["waiting"]
    assert waiting["too early"][0] == "RuntimeError"
    assert waiting["queued"] == pytest.approx(LONG * 1e3)
    assert waiting["all"] > 2 * LONG * 1e3  # the first product had to be launched as well


def test_whatever_reads_a_value_has_waited_for_it(seen: dict[str, Any]) -> None:
    assert seen["reading"] == dict.fromkeys(["item", "cpu", "list", "print", "copy"], True)


def test_two_devices_work_at_once_and_one_does_not(seen: dict[str, Any]) -> None:
    overlaps = seen["overlaps"]
    assert overlaps["two devices"] > LONG / 2
    assert overlaps["two devices in sequence"] == 0
    assert overlaps["two streams"] == 0
    assert overlaps["copy after product on its stream"] == 0
    assert overlaps["error"] == 0


def test_a_copy_that_was_not_waited_for_is_garbage(seen: dict[str, Any]) -> None:
    assert seen["read_back_without_waiting"] == {"before": False, "after": True}


def test_memory_ends_as_on_a_real_device_and_is_given_back(seen: dict[str, Any]) -> None:
    memory = seen["memory"]
    assert memory["refusal"][0] == "OutOfMemoryError"
    assert "sim out of memory" in memory["refusal"][1]
    assert memory["peak"] == 0
    assert memory["left"] == 0


def test_mistakes_are_refused_as_on_a_real_device(seen: dict[str, Any]) -> None:
    mistakes = seen["mistakes"]
    for places in ("host and device", "two devices"):
        assert mistakes[places][0] == "RuntimeError"
        assert "same device" in mistakes[places][1]
    assert mistakes["numpy"][0] == "TypeError"
    assert mistakes["shapes"][0] == "RuntimeError"


def test_another_name_and_a_mask_choose_what_is_there() -> None:
    spec = {"name": "acme", "devices": 3, "faults": {"speeds": [1.0, 1.0, 0.5], "jitter": 0.0}}
    seen = play("presence", "dispersion", spec=spec, ACME_VISIBLE_DEVICES="2,0")
    assert seen["presence"]["accelerator"] == "acme"
    assert seen["presence"]["count"] == 2
    seconds = seen["dispersion"]
    assert seconds["acme:0 first"] == pytest.approx(2 * seconds["acme:1 first"])


@pytest.mark.parametrize(
    ("mask", "devices"),
    [
        (None, [0, 1, 2]),
        ("1", [1]),
        ("0,1", [0, 1]),
        ("2,0", [2, 0]),
        ('"0,2"', [0, 2]),
        ("0,7,1", [0]),
        ("", []),
        ("-1", []),
    ],
)
def test_a_mask_leaves_the_devices_that_it_names(
    mask: str | None, devices: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    if mask is not None:
        monkeypatch.setenv("SIM_VISIBLE_DEVICES", mask)
    assert Spec(devices=3).visible() == devices


def test_a_masked_machine_has_no_accelerator() -> None:
    presence = play("presence", SIM_VISIBLE_DEVICES="")["presence"]
    assert presence["accelerator"] is None
    assert presence["count"] == 0


def test_faults_change_the_times_that_they_name() -> None:
    faults = {"throttle_after": 0.3, "throttle_speed": 0.5, "jitter": 0.01, "lost_after": 10}
    seen = play("dispersion", "loss", spec={"devices": 1, "faults": faults})
    seconds = seen["dispersion"]
    assert seconds["sim:0 last"] == pytest.approx(2 * seconds["sim:0 first"], rel=0.1)
    assert seconds["sim:0 last"] != 2 * seconds["sim:0 first"]
    assert seen["loss"]["used"] == 10 - 2 * 2 - 1  # two products and every copy were launches too
    assert seen["loss"]["refusal"] == ["AcceleratorError", "sim error: device 0 is lost"]
    assert seen["loss"]["waiting"] == seen["loss"]["refusal"]


def test_a_device_that_hangs_is_waited_for_without_end() -> None:
    with start("hang", spec={"faults": {"hang_after": 2}}) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "launched\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        process.kill()


def entry(name: str, done: list[str], reads: list[Value], writes: list[Value]) -> Entry:
    return Entry(lambda: done.append(name), reads, writes, name, 1e-6)


def test_only_what_a_value_depends_on_is_computed() -> None:
    tape, done = Tape(), list[str]()
    a, b, c = Value(), Value(), Value()
    tape.append(entry("a", done, [], [a]))
    tape.append(entry("b", done, [a], [b]))
    tape.append(entry("c", done, [], [c]))
    tape.force([b])
    assert done == ["a", "b"]
    tape.force([c])
    assert done == ["a", "b", "c"]


def test_what_reads_a_value_comes_before_what_overwrites_it() -> None:
    tape, done = Tape(), list[str]()
    a, b = Value(), Value()
    tape.append(entry("reader", done, [a], [b]))
    tape.append(entry("overwriter", done, [a], [a]))
    tape.force([a])
    assert done == ["reader", "overwriter"]


def test_what_nobody_holds_is_never_computed() -> None:
    tape, done = Tape(), list[str]()
    kept, forgotten, between = Value(), Value(), Value()
    tape.append(entry("between", done, [], [between]))
    tape.append(entry("forgotten", done, [between], [forgotten]))
    tape.append(entry("kept", done, [], [kept]))
    del forgotten, between
    tape.force([kept])
    assert done == ["kept"]
    tape.compute_while_waiting(float("inf"))
    assert done == ["kept"]


def test_what_does_not_fit_into_a_wait_is_left_for_later() -> None:
    tape, done = Tape(), list[str]()
    a = Value()
    tape.append(entry("a", done, [], [a]))
    tape.compute_while_waiting(0.0)
    assert done == []
    tape.compute_while_waiting(float("inf"))
    assert done == ["a"]
