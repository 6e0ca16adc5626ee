# SPDX-License-Identifier: MIT
"""What is wrong with a machine that can measure, and what mends it.

A rule is a small function that yields what it finds; its name is the trouble's code, its docstring
the help.
"""

from collections.abc import Callable, Iterator, Sequence

from suite.doctor import devices, hosts, nodes
from suite.doctor.there import There
from suite.doctor.trouble import START_LOCALLY, Trouble
from suite.stored.run import Conclusion, Severity

Rule = Callable[[There], Iterator[Trouble]]


def troubles(there: There) -> list[Conclusion]:
    """Apply every rule; what keeps one accelerator from use is a warning beside one that works."""
    lost: Severity = "warning" if devices.some_work(there) else "error"
    return [
        Conclusion(
            code=rule.__name__.replace("_", "-"),
            severity=lost if severity == "error" else severity,
            message=trouble.message,
            advice=trouble.mend,
        )
        for severity, rules in RULES.items()
        for rule in rules
        for trouble in rule(there)
    ]


def left_out(names: Sequence[str]) -> list[Conclusion]:
    """Say of devices that a run leaves them out, since PyTorch was not built for them."""
    code, advice = "build-lacks-device", f"install a build that has it: {START_LOCALLY}"
    message = f"{' and '.join(names)} left out: PyTorch was not built for this generation"
    found = Conclusion(code=code, severity="warning", message=message, advice=advice)
    return [found] if names else []


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
        nodes.far_accelerator,
        hosts.native_windows,
        hosts.slow_governor,
        hosts.quota_below_cores,
        hosts.busy_processor,
        hosts.on_battery,
        hosts.little_memory,
        hosts.little_shared_memory,
        hosts.little_disk_space,
    ),
    "info": (devices.unloaded_driver, nodes.several_nodes, devices.no_accelerator),
}
"""All rules, by how bad what they find is: an error keeps an accelerator from being used."""
