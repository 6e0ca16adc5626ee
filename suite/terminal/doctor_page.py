# SPDX-License-Identifier: MIT
"""What the doctor says on a terminal; what is not known is left out, and the JSON has reasons."""

from collections.abc import Iterator

from msgspec import Struct, structs

from frobench.suite.doctor.examined import ExaminedMachine
from frobench.suite.machine.host import installed
from frobench.suite.machine.sensors.throttle_causes import IDLE
from frobench.suite.stored.types import Conclusion
from frobench.suite.terminal.output import GAP, indented, wrapped
from frobench.suite.units import counted, format_value

MARGIN = 16
"""Columns for headings."""
UNITS = {"bytes": "B", "hz": "Hz", "watts": "W", "celsius": "°C"}
"""Units by the last word of a field's name."""


def lines(there: ExaminedMachine, troubles: list[Conclusion], width: int) -> Iterator[str]:
    """Yield the page for a terminal of so many columns."""
    rows = [("CPU", _facts(there.host.cpu)), ("machine", _facts(there.host)), *_torch(there)]
    for device in there.accelerators:
        number = "" if device.index is None else f" {device.index}"
        rows.append((f"{device.vendor}{number}", _facts(device)))
    for heading, text in rows:
        yield from wrapped(text, width, f"{heading:{MARGIN}}", " " * MARGIN)
    yield ""
    if not troubles:
        yield "Nothing is wrong: `frobench run` measures it."
    for trouble in troubles:
        head = f"{trouble.severity}: {trouble.message} ({trouble.code})"
        yield from wrapped(head, width, "", GAP)
        yield from indented(f"advice: {trouble.advice}", width)


def _torch(there: ExaminedMachine) -> Iterator[tuple[str, str]]:
    offer = there.torch
    if offer is not None and offer.version is not None:
        built = [f"{name} {build}" for name, build in offer.builds.items() if build]
        kinds = f"built for {' and '.join(built) or 'the CPU alone'}"
        yield "PyTorch", f"{offer.version}, {kinds}, sees {counted(offer.devices, 'accelerator')}"
    for name, package, version in installed():
        yield "backend", f"{name}, of {package} {version}"
    yield from offer.names if offer else ()
    if masks := there.host.masks:
        yield "masks", ", ".join(f"{name}={value!r}" for name, value in masks.items())


def _facts(part: Struct) -> str:
    """Return the facts that are known of a part of the machine."""
    known = []
    for field, value in structs.asdict(part).items():
        words, _, unit = field.rpartition("_")
        if value is True:
            known.append(field.replace("_", " "))
        elif field == "held_back" and (causes := [one for one in value or () if one != IDLE]):
            known.append(f"held back by {' and '.join(causes)}")
        elif isinstance(value, int | float) and value is not False and field != "index":
            number = format_value(value, UNITS.get(unit, ""))
            known.append(f"{(words if unit in UNITS else field).replace('_', ' ')} {number}")
        elif isinstance(value, str) and field not in {"vendor", "type"}:
            known.append(
                value if field in {"model", "name", "os"} else f"{field.replace('_', ' ')} {value}"
            )
    return ", ".join(known)
