# SPDX-License-Identifier: MIT
"""The simulated accelerator behaves as an accelerator does, and its times are those it is given.

What the devices do is judged by their own account, in simulated time; of the host's clock only
this is asked: that no wait ends early.
"""

from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

import pytest

from tests.instruments.processes.stage import play, play_warm
from tests.instruments.simulated.simulated_accelerator.device import Cache
from tests.instruments.simulated.simulated_accelerator.host import host
from tests.instruments.simulated.simulated_accelerator.spec import Spec

LAUNCH, KERNEL, SYNCHRONISE, METADATA = 50e-6, 5e-6, 10e-6, 25e-6
FLOPS, SHORT_FLOPS, BANDWIDTH, CACHE_BANDWIDTH = 1e9, 4e9, 10e9, 40e9
FIRST, EVENT = 2e-3, 5e-6
"""Seconds that the first launch of an operation takes longer, where that is asked for."""
SLOW = {"flops": {"float32": FLOPS, "bfloat16": SHORT_FLOPS}, "memory": 64 << 20}
LONG = KERNEL + 2 * 512**3 / FLOPS
"""Seconds of the product that the scenes wait for: longer than any disturbance should be."""


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """Play on two devices without fault."""
    return play(
        "scenes",
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
    assert overlaps["two devices"] > 0
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


def test_another_name_and_a_mask_choose_what_is_there() -> None:
    spec = {"name": "acme", "devices": 3, "virtual": True}
    presence = play_warm("scenes", "presence", spec=spec, ACME_VISIBLE_DEVICES="2,0")["presence"]
    assert presence["accelerator"] == "acme"
    assert presence["count"] == 2


def test_a_masked_machine_has_no_accelerator() -> None:
    presence = play_warm("scenes", "presence", SIM_VISIBLE_DEVICES="")["presence"]
    assert presence["accelerator"] is None
    assert presence["count"] == 0


@pytest.fixture(scope="module")
def odd() -> dict[str, Any]:
    """Play on devices that have a cache, with room for four matrices of 128 x 128."""
    return play_warm(
        "oddities",
        "peaks",
        "first_launches",
        "cached",
        "imports",
        "marks",
        spec={
            "virtual": True,
            "cache": 300_000,
            "cache_bandwidth": CACHE_BANDWIDTH,
            "event": EVENT,
            "faults": {"first": FIRST},
        },
    )


def test_memory_is_counted_by_device(odd: dict[str, Any]) -> None:
    assert odd["peaks"] == {
        "at first": [0, 0, 0, 0],
        "after work": [1000, 2000, 0, 0],
        "after the reset": [1000, 1000, 0, 0],
    }


def test_the_first_launch_of_each_operation_costs_more_once_in_a_process(
    odd: dict[str, Any],
) -> None:
    seconds = odd["first_launches"]
    assert seconds.pop("product on the other") == pytest.approx([LAUNCH, LAUNCH], rel=1e-2)
    assert len(seconds) == 5
    for both in seconds.values():
        assert both == pytest.approx([FIRST + LAUNCH, LAUNCH], rel=1e-2)


def test_to_record_an_event_costs_the_host_and_so_lengthens_what_it_marks(
    odd: dict[str, Any],
) -> None:
    begun, launched, ended = odd["marks"]["host"]
    assert [begun, ended] == pytest.approx([EVENT, EVENT], rel=2e-2)
    assert odd["marks"]["device"] == pytest.approx([launched + EVENT], rel=1e-2)


def test_an_operation_is_quick_only_if_all_that_it_is_given_lies_in_the_cache(
    odd: dict[str, Any],
) -> None:
    size = 3 * 4 * 128**2
    cold, warm = (pytest.approx(KERNEL + size / rate) for rate in (BANDWIDTH, CACHE_BANDWIDTH))
    assert odd["cached"] == {
        "nothing": cold,
        "itself": warm,
        "another that fits": warm,
        "many that are gone": warm,
        "a large write": cold,
    }


def test_to_compute_imports_nothing_that_takes_long(odd: dict[str, Any]) -> None:
    assert odd["imports"] == []


def test_what_was_not_touched_for_longest_leaves_the_cache() -> None:
    cache = Cache(100)
    assert [cache.touch(buffer, 40) for buffer in (1, 2, 1, 3, 1, 2)] == [
        *(False, False, True),
        *(False, True, False),
    ]
    assert not cache.touch(4, 101)
    assert not any(cache.touch(buffer, 20) for buffer in (1, 2, 3, 4))


def test_a_bare_backend_offers_the_least_and_works() -> None:
    spec = {"virtual": True, "bare": True, "flops": {"float32": FLOPS}}
    least = play_warm("oddities", "least", spec=spec)["least"]
    assert least["offers"] == [
        "current_device",
        "device_count",
        "is_available",
        "is_initialized",
        "manual_seed_all",
        "set_device",
    ]
    assert least["accelerators"] == 2
    assert least["current"] == 1
    assert least["error"] == 0
    product = KERNEL + 2 * 100**3 / FLOPS
    reading = 20e-6 + 4 / 1e9 + SYNCHRONISE
    assert least["seconds"] == pytest.approx([LAUNCH, LAUNCH + product + reading], rel=1e-3)
    assert least["generator"]
    assert least["drawing"][0] == "RuntimeError"


def test_a_lazy_backend_works_only_when_a_value_is_read_and_waits_for_nothing() -> None:
    spec = {"virtual": True, "lazy": True, "flops": {"float32": FLOPS}}
    lazy = play_warm("oddities", "lazy", spec=spec)["lazy"]
    launched, waited, unread, again = lazy["seconds"]
    assert launched == pytest.approx(LAUNCH, rel=1e-2)
    assert waited == pytest.approx(SYNCHRONISE, rel=1e-2)
    reading = LAUNCH + 20e-6 + 4 / 1e9 + SYNCHRONISE
    product = KERNEL + 2 * 512**3 / FLOPS
    assert unread == pytest.approx(METADATA + product + reading, rel=1e-3)
    assert again == pytest.approx(METADATA + reading, rel=1e-3)
    assert lazy["error"] == 0


def test_a_graph_replays_what_it_recorded_by_one_launch_and_autocast_lowers_products() -> None:
    spec: dict[str, Any] = {"virtual": True, "graphs": True, "launch": 1e-3, "metadata": 0.0}
    seen = play_warm("scenes", "graphs", "lower_precision", spec=spec)
    graphs = seen["graphs"]
    assert graphs["refused"] == [
        "RuntimeError",
        "operation not permitted when stream is capturing",
    ]
    assert graphs["launched while recording"] == 0
    assert graphs["host"] == pytest.approx(2 * spec["launch"], rel=1e-3)
    assert graphs["product"] < 1e-5
    assert graphs["state"] < 1e-5
    assert seen["lower_precision"] == ["torch.bfloat16", "torch.float32", "torch.float32"]


def test_a_thread_that_was_late_repays_nothing_after_a_synchronisation_by_another() -> None:
    with ThreadPoolExecutor(1) as thread:
        begun = perf_counter() - 1.0
        thread.submit(host.spend, begun, 0.5).result()
        assert thread.submit(lambda: host.debt).result() >= 0.5
        host.settle(0.0)
        assert thread.submit(lambda: host.debt).result() == 0.0
