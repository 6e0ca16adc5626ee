# SPDX-License-Identifier: MIT
"""What is wrong with a machine that can measure, and what mends it."""

from collections.abc import Callable, Iterator, Sequence

from suite.checks.rule import Fault, conclusion
from suite.doctor import devices, hosts, memory_nodes
from suite.doctor.there import There
from suite.doctor.torch_offer import START_LOCALLY
from suite.stored.run import Conclusion, Severity

Rule = Callable[[There], Iterator[Fault]]


def troubles(there: There) -> list[Conclusion]:
    """Apply every rule; what keeps one accelerator from use is a warning beside one that works."""
    lost: Severity = "warning" if devices.some_work(there) else "error"
    return [
        conclusion(rule, lost if severity == "error" else severity, fault)
        for severity, rules in RULES.items()
        for rule in rules
        for fault in rule(there)
    ]


def left_out(names: Sequence[str]) -> list[Conclusion]:
    """Say of devices that a run leaves them out, since PyTorch was not built for them."""
    if not names:
        return []
    message = f"{' and '.join(names)} left out: PyTorch was not built for this generation"
    fault = Fault(message, advice=f"install a build that has it: {START_LOCALLY}")
    return [conclusion(devices.build_lacks_device, "warning", fault)]


RULES: dict[Severity, tuple[Rule, ...]] = {
    "error": (devices.device_lost, devices.build_lacks_device),
    "warning": (
        devices.silent_driver,
        devices.hidden_devices,
        devices.busy_accelerator,
        devices.held_back,
        devices.power_cap,
        devices.narrow_link,
        devices.slow_link,
        memory_nodes.far_accelerator,
        hosts.native_windows,
        hosts.slow_governor,
        hosts.quota_below_cores,
        hosts.busy_processor,
        hosts.on_battery,
        hosts.little_memory,
        hosts.little_shared_memory,
        hosts.little_disk_space,
    ),
    "info": (devices.unloaded_driver, memory_nodes.several_nodes, devices.no_accelerator),
}
"""All rules, by how bad what they find is: an error keeps an accelerator from being used."""
