# SPDX-License-Identifier: MIT
"""Mutants of stored files: flipped bits, and JSON that is cut, copied, swapped and blown up."""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from copy import deepcopy
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from frobench.reports.making.workers import Workers
from frobench.suite import checks, redaction
from frobench.suite.export import FORMATS
from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from frobench.suite.terminal import disclosure
from studies.faults.trials import Extent, Trial
from tests.instruments.faults.judging import keep, validate_file
from tests.instruments.runs.good_runs import good_run

PROMISE = (
    "Whatever a file holds, `validate`, `report`, `share`, `export` and `show` read it or refuse "
    "it, without an exception and within 5 s. No number that was changed is accepted unless the "
    "digest was made anew."
)
UNSEALED, SEALED, FAILED = "as damaged", "sealed anew", "files that once failed"
FOLDER = Path(__file__).parent / "failed"
"""Holds the smallest file of each fault that was found."""
NEW = Path("failed")
"""Takes the files that fail, in the folder where the campaign was started."""
BLOCK, IN_A_SITE = 250, 10
"""Mutants of a trial, and those of them that a site is built of."""
BASES, LARGEST_BASE = 40, 20_000
"""Runs that mutants are made of, and the bytes of each."""
LONGEST = 5.0
"""Seconds of the processor that a file may take."""
NEST = "@nest@"
"""Stands for deep nesting, which Python does not write by itself."""
NUMBERS = (0, -1, 1, 1e308, -1e308, 5e-324, 1e-300, 2**31, 2**53 + 1, 2**63, -(2**64), 10**400)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, "", "x", "1e999", NEST),
    *([], {}, [[]], {"a": 1}, [None]),
)
TEXTS = (
    *("", "\x00", "\x1b]0;x\x07", "\ud800", "\u202e", "../../..", "NaN", "cpu", "cuda:0", "a b"),
    *("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-02-30T00:00:00Z"),
    *("1.1.1.1 " * 4000, "a.b" * 10_000, "W" * 100_000, "<script>" * 1000, "(" * 5000),
)


class Place(NamedTuple):
    """A value of a file: what holds it, and under which key."""

    inside: Any
    key: Any

    @property
    def value(self) -> Any:  # noqa: ANN401 - any JSON
        """The value."""
        return self.inside[self.key]

    def put(self, value: object) -> None:
        """Put another value there."""
        self.inside[self.key] = value


def trials(extent: Extent) -> list[Trial]:
    """Return blocks of mutants, half of them sealed anew, and the files that failed before."""
    import frobench.reports.site.build  # noqa: F401, PLC0415 - once, before any process is forked

    size = min(BLOCK, extent.mutants // 2)
    failed = [path for path in FOLDER.glob("*") if path.is_file()]
    blocks = range(extent.seed * 10**6, extent.seed * 10**6 + extent.mutants // size)
    kinds = (UNSEALED, SEALED)
    return [
        Trial(__name__, FAILED, 0, len(failed)),
        *(Trial(__name__, kinds[block % 2], block, size) for block in blocks),
    ]


def attempt(trial: Trial, folder: Path) -> Iterable[str]:
    """Read mutants in every way that a file is read in."""
    files: dict[str, tuple[bytes, Run | None]]
    if trial.kind == FAILED:
        files = {path.name: (path.read_bytes(), None) for path in FOLDER.glob("*")}
    else:
        files = {
            f"{trial.number}-{n}.json": mutant(trial.number, n, sealed=trial.kind == SEALED)
            for n in range(trial.size)
        }
    for name, (data, origin) in files.items():
        begun = time.process_time()
        faults = [*judged(data, origin, folder)]
        if (took := time.process_time() - begun) > LONGEST:
            faults.append(f"took {took:.1f} s of the processor")
        for fault in faults:
            _keep(name, data, fault)
            yield f"{name}: {fault}"
    readable = [data for data, _ in files.values() if _is_readable(data)]
    yield from _site(readable[:IN_A_SITE], folder)


def mutant(block: int, number: int, *, sealed: bool) -> tuple[bytes, Run | None]:
    """Return a mutant, and the run that it was made of unless its digest was made anew."""
    chance = Random(f"{block}/{number}")  # noqa: S311 - no secret
    data = _base(chance.randrange(BASES))
    if not sealed and chance.random() < 0.5:
        return damaged(data, chance), store.decode(data)
    plain = json.loads(data)
    for _ in range(chance.choice((1, 1, 2, 3))):
        chance.choice(EDITS)(plain, places(plain), chance)
    if sealed:
        _seal(plain)
    return _text(plain), None if sealed else store.decode(data)


@cache
def _base(seed: int) -> bytes:
    """Return a file of an honest run with as many cases as there is room for."""
    run = good_run(seed)
    cases = len(run.benchmarks)
    while len(data := store.encode(run)) > LARGEST_BASE and cases > 1:
        cases -= 1
        chosen = {case.fullname for case in run.benchmarks[:cases]}
        keep(run, lambda case: case.fullname in chosen)  # noqa: B023 - called at once
    return data


def damaged(data: bytes, chance: Random) -> bytes:
    """Flip bits, and cut, repeat or insert some bytes."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        first = chance.randrange(len(changed))
        last = first + chance.choice((1, 2, 10, 1000))
        match chance.randrange(4):
            case 0 | 1:
                changed[first] ^= 1 << chance.randrange(8)
            case 2:
                del changed[first:last]
            case _:
                changed[first:first] = changed[first:last]
    return bytes(changed)


def places(value: object) -> list[Place]:
    """Return every place of plain JSON."""
    found: list[Place] = []
    inside = [value]
    for one in inside:
        keys = one if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        here = [Place(one, key) for key in keys]
        found += here
        inside += [place.value for place in here if isinstance(place.value, dict | list)]
    return found


Edit = Callable[[Any, list[Place], Random], None]


def _delete(_plain: object, every: list[Place], chance: Random) -> None:
    place = chance.choice(every)
    del place.inside[place.key]


def _duplicate(_plain: object, every: list[Place], chance: Random) -> None:
    place = chance.choice([one for one in every if isinstance(one.inside, list)])
    place.inside.insert(place.key, deepcopy(place.value))


def _copy(_plain: object, every: list[Place], chance: Random) -> None:
    one, other = _two(every, chance)
    one.put(deepcopy(other.value))


def _swap(_plain: object, every: list[Place], chance: Random) -> None:
    one, other = _two(every, chance)
    first, second = deepcopy(one.value), deepcopy(other.value)
    one.put(second)
    other.put(first)


def _two(every: list[Place], chance: Random) -> tuple[Place, Place]:
    """Return two places, most often of values of one type, which a reader may accept."""
    one = chance.choice(every)
    alike = [other for other in every if type(other.value) is type(one.value)]
    return one, chance.choice(alike if chance.random() < 0.8 else every)


def _rename(_plain: object, every: list[Place], chance: Random) -> None:
    place = chance.choice([one for one in every if isinstance(one.inside, dict)])
    value = place.inside.pop(place.key)
    place.inside[chance.choice((*TEXTS, place.key[:-1], place.key.upper()))] = value


def _number(_plain: object, every: list[Place], chance: Random) -> None:
    numbers = [one for one in every if isinstance(one.value, int | float)]
    place = chance.choice(numbers)
    factor = chance.choice((0.1, 0.5, 0.999, 1.001, 2, 10, 1e6, -1))
    scaled = place.value * factor if abs(place.value) < 2**63 else -place.value
    number = chance.choice((*NUMBERS, scaled))
    whole = isinstance(place.value, int) and abs(number) < 2**63 and chance.random() < 0.8
    place.put(round(number) if whole else number)


def _value(_plain: object, every: list[Place], chance: Random) -> None:
    chance.choice(every).put(deepcopy(chance.choice(VALUES)))


def _words(_plain: object, every: list[Place], chance: Random) -> None:
    place = chance.choice([one for one in every if isinstance(one.value, str)])
    place.put(chance.choice((*TEXTS, place.value * 2, place.value[:-1])))


EDITS: tuple[Edit, ...] = (
    *(_delete, _duplicate, _rename, _value, _copy, _copy, _swap, _swap),
    *(_number, _number, _number, _words, _words, _words),
)


def _seal(plain: dict[str, Any]) -> None:
    """Make the digest anew, as whoever changes a number on purpose can."""
    if isinstance(plain.get("frobench"), dict):
        rest = {key: one for key, one in plain["frobench"].items() if key != "digest"}
        canonical = json.dumps(plain | {"frobench": rest}, sort_keys=True, separators=(",", ":"))
        plain["frobench"]["digest"] = sha256(canonical.encode()).hexdigest()


def _text(plain: object) -> bytes:
    text = json.dumps(plain)
    return text.replace(f'"{NEST}"', "[" * 3000 + "]" * 3000).encode()


def judged(data: bytes, origin: Run | None, folder: Path) -> Iterator[str]:
    """Yield what goes wrong when a file is read, judged, shown, exported and shared.

    origin : the run whose numbers the file must have if it is accepted
    """
    from frobench.reports.summary import plain  # noqa: PLC0415 - see `trials`

    path = folder / "mutant.json"
    path.write_bytes(data)
    try:
        if any(one.severity == "error" for one in validate_file(path)):
            return
        run = checks.read(path)
        if origin is not None and store.decode(data) != origin:
            yield "changed, and accepted with the old digest"
        plain.answers(checks.credible(run))
        for export in FORMATS.values():
            export(checks.credible(run))
        redacted, removed = redaction.redact(store.decode(data), frozenset({"jane"}))
        disclosure.lines(redacted, removed, everything=False)
    except Exception as error:  # noqa: BLE001 - any is a fault
        yield _where(error)


def _is_readable(data: bytes) -> bool:
    with suppress(Exception):  # one that ends the reader is a fault already
        store.decode(data)
        return True
    return False


def _site(files: list[bytes], folder: Path) -> Iterator[str]:
    """Yield what goes wrong when a site is built of files, each broken or not."""
    from frobench.reports.site import build  # noqa: PLC0415 - see `trials`

    inputs = folder / "runs"
    inputs.mkdir()
    for number, data in enumerate(files):
        (inputs / f"{number}.json").write_bytes(data)
    try:
        build.build([inputs], folder / "site", tell=lambda *_: None, workers=Workers(1))
    except Exception as error:  # noqa: BLE001 - any is a fault
        for number, data in enumerate(files):
            _keep(f"site-{number}-{sha256(data).hexdigest()[:8]}.json", data, _where(error))
        yield f"a site of {len(files)} files: {_where(error)}"


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code if trace else None
    place = f"{Path(code.co_filename).name}:{code.co_name}" if code else ""
    return f"{type(error).__name__} in {place}: {str(error)[:200]}"


def _keep(name: str, data: bytes, fault: str) -> None:
    """Keep a file that fails, to be mended, made smaller and added to `FOLDER`."""
    NEW.mkdir(exist_ok=True)
    (NEW / f"{re.sub(r'[^A-Za-z0-9]+', '-', fault)[:60]}.{name}").write_bytes(data)
