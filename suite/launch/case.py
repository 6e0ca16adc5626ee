# SPDX-License-Identifier: MIT
"""One case of a session: its samples and the check of its result, or why it has none."""

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import monotonic
from types import AsyncGeneratorType, CoroutineType, GeneratorType, MappingProxyType
from typing import Any, Literal

import pytest

from frobench.suite import personal_data
from frobench.suite.checkout import BENCHMARKS, SUITE
from frobench.suite.errors import LostRankError, WrongResultError, in_brief
from frobench.suite.journal import DEVICE_LOST, Begun, Measured, Refused
from frobench.suite.kit.check_result import briefly, worst
from frobench.suite.kit.device import Device
from frobench.suite.kit.lanes import Track
from frobench.suite.kit.workers import WorkerError
from frobench.suite.launch.session import Session
from frobench.suite.lazy_torch import torch
from frobench.suite.machine.cpu_time import accounts
from frobench.suite.measure.caches_and_inputs import ColdCaches, Inputs
from frobench.suite.measure.timed_loop import Body, Sampler, no_garbage_collection
from frobench.suite.profiles import brief
from frobench.suite.stored.machine_identity import name_of
from frobench.suite.stored.types import Check, Settings, Work

WINDOW = pytest.StashKey[bool]()
"""Whether an item stands for a case that is repeated in a window, after it was measured."""
NO_WORK = Work()
MARK = "frobench: "
"""Before a case's name, where a profiler shows the one call of ``--once``."""

LONGEST_REASON, LONGEST_DETAILS = 300, 20_000
"""Characters of a stored reason, and of an error with its traceback, whose end is kept."""
OUTCOMES = (pytest.skip.Exception, pytest.fail.Exception)
IN_WORDS = (pytest.FixtureLookupError, WrongResultError, LostRankError)
"""Errors whose text names nothing but what stands in benchmarks."""
HARNESS = {"_pytest", "pluggy", "pytest_benchmark"}
"""Folders of the harness's code, besides Frobench's own."""
LAZY = (GeneratorType, CoroutineType, AsyncGeneratorType)
"""Results of bodies that have not run yet."""


class Measure:
    """What a benchmark calls, once, to have its body timed and its result checked.

    Made when its case begins, it knows in the end what became of the case.

    measured : the record of the case, once it has samples
    refused : why it has none, or must not be believed
    repeats : whether the item stands for a case that is repeated for a window, behind all others
    """

    def __init__(self, session: Session, item: pytest.Function, settled: float) -> None:
        self._session = session
        self._item = item
        self._devices: list[Device] = []
        self.measured: Measured | None = None
        self.refused: Refused | None = None
        self.repeats = WINDOW in item.stash
        self._begun = monotonic()
        self._accounts = accounts() if session.spec.mode == "pilot" else None
        launch, case = session.spec.launch, item.nodeid
        session.write(Begun(launch=launch, case=case, at=self._begun, settled=settled))

    def involve(self, *devices: Device) -> None:
        """Synchronise these devices before and after every sample; watch their memory."""
        self._devices += devices
        self._session.blocker(devices)  # what it allocates is not the case's
        for device in devices:
            device.reset_peak_bytes()

    def __call__(  # noqa: PLR0913 - a keyword for each thing that few benchmarks need
        self,
        body: Body,
        *,
        work: Work = NO_WORK,
        check: Callable[[Any], Check | bool] | None = None,
        lanes: Sequence[Track] = (),
        before: Callable[[], object] | None = None,
        against: Body | None = None,
        cold: bool = False,
        apart: Mapping[str, float] = MappingProxyType({}),
        control: bool = False,
    ) -> None:
        """Time a body.

        body : does the work once and returns its result
        work : what one call does, counted from its definition; rates follow from it
        check : compares the last call's result with the truth, after the timing
        lanes : where a body that uses several streams or devices queues its work; it enters them
        before : called before each sample, outside the clocks
        against : another version of the body, sampled right beside it, so that `frobench compare`
            shows small differences of the two
        cold : empty the devices' caches before each sample, outside the clocks
        apart : seconds spent once, outside the clocks, by the name of their part in the stored
            file, such as ``compile``
        control : the body works strictly in turn, so overlap of its lanes is an error of clocks
        """
        if self.measured is not None:
            pytest.fail("a benchmark measures once")
        if cold and not self._devices:
            pytest.fail("cold=True is for devices of this process; workers have their own caches")
        spec, case = self._session.spec, self._item.nodeid
        caches = ColdCaches(self._devices) if cold else None
        plain = not (lanes or before or against)
        keeper = self._session.blocker(self._devices) if plain else None
        sampler = Sampler(body, self._devices, lanes, before, against, caches, blocker=keeper)
        if self.repeats:
            busy = sampler.repeat()
            _checked(check, sampler.results)
            busy.launch, busy.case = spec.launch, case
            self._session.write(busy)
            return
        inputs = Inputs(body, against)
        if spec.mode == "once":
            record = called_once(sampler, name_of(case), spec.settings, spec.trace)
        if spec.mode in {"pilot", "alone"}:
            record = self._session.explore(self._item, sampler, work)
        if spec.mode in {"measure", "alone"}:
            record = sampler.run(brief(spec.settings) if case in spec.plan.brief else spec.settings)
        peaks = {device.name: peak_bytes(device, sampler) for device in sampler.devices}
        with briefly(brief=spec.mode == "pilot" or (spec.mode == "measure" and spec.launch > 0)):
            record.check = _checked(check, sampler.results)
        self._session.position += 1
        record.launch, record.case, record.order = spec.launch, case, self._session.position
        record.work, record.control = work, control
        record.parts |= apart
        record.peak_bytes = sum(peak or 0 for peak in peaks.values()) or None
        record.idle_devices = [
            name for name, peak in peaks.items() if peak == 0 and name not in inputs.devices()
        ]
        record.in_a_row = not (before or cold)
        if caches is not None:
            record.flushed_bytes = caches.flushed_bytes()
        if spec.mode != "pilot":
            record.commonest = inputs.commonest()
        self.measured = record

    def refuse(self, status: Literal["skipped", "failed"], error: BaseException) -> None:
        """Note why the case has no samples, or must not be believed."""
        launch, case = self._session.spec.launch, self._item.nodeid
        self.refused = refusal(launch, case, status, error, self._item.path)

    def conclude(self) -> None:
        """Record what became of the case, once it is over."""
        session, case = self._session, self._item.nodeid
        session.searches.waiting.discard(case)
        if self.refused is not None:
            session.write(self.refused)
            lost = self.refused.reason if self.refused.lost else ""
            # Also where the case was left out: what seemed to be missing may be the device.
            session.recover(failed=self.refused.status == "failed", lost=lost)
        elif (record := self.measured) is not None:
            record.wall_seconds = monotonic() - self._begun - session.searches.took.get(case, 0.0)
            record.search = session.searches.found.get(case)
            if self._accounts is not None and (now := accounts()) is not None:
                record.accounts = now.since(self._accounts)
            session.write(record)
        if session.is_changed and session.journal is not None:
            pytest.exit("a case changed the process for those behind it", returncode=DEVICE_LOST)


def _checked(check: Callable[[Any], Check | bool] | None, results: Sequence[Any]) -> Check | None:
    """Return the worst check of results, if the benchmark has one; raise if a result is wrong."""
    if any(isinstance(result, LAZY) for result in results):
        pytest.fail(
            "the body returned a generator or coroutine, whose code has not run; run it in the body"
        )
    if check is None:
        return None
    checked = worst(check(result) for result in results)
    if not checked.passed:
        raise WrongResultError(checked)
    return checked


def peak_bytes(device: Device, sampler: Sampler) -> int | None:
    """Return the most memory that a case had, without what empties the caches.

    It is 0 where an earlier case gave more memory back meanwhile.
    """
    peak = device.peak_bytes()
    return max(0, peak - sampler.cold.bytes_on(device)) if peak and sampler.cold else peak


def refusal(
    launch: int, case: str, status: Literal["skipped", "failed"], error: BaseException, file: Path
) -> Refused:
    """Return why a case has no samples, in our words or by what it raised, and in which line.

    Texts of others are for the terminal only. That of an outcome of pytest is ours where our code
    has raised it, and where it marks a benchmark of ours.

    file : that of the case
    """
    refused = Refused(launch=launch, case=case, status=status, reason="")
    if isinstance(error, WrongResultError):
        refused.check = error.check
    refused.lost = isinstance(error, LostRankError)
    if _is_ours(error, file):
        reason, cause = _text(error).partition("\n")[0], error.__cause__
        if cause is not None and _text(cause) != reason:
            refused.details = _text(cause)
    else:
        reason = error.brief if isinstance(error, WorkerError) else in_brief(error)
        refused.details = _traced_back(error, file.parent)
        if isinstance(error, OUTCOMES):
            skips = isinstance(error, pytest.skip.Exception)
            reason, refused.details = f"pytest.{'skip' if skips else 'fail'}", _text(error)
        if where := raised_at(error, file.parent):
            reason += f" ({where})"
    refused.reason = personal_data.hide(reason, personal_data.own_names())[:LONGEST_REASON]
    return refused


def _is_ours(error: BaseException, file: Path) -> bool:
    """Return whether Frobench wrote the text of an error."""
    if isinstance(error, OUTCOMES):
        frames = (Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__))
        raised = [name for name in frames if name.parent.name not in HARNESS]
        by = (raised or [file])[-1].resolve()  # without any it is a mark
        return by.is_relative_to(SUITE) or by.is_relative_to(BENCHMARKS)
    return isinstance(error, IN_WORDS)


def raised_at(error: BaseException, folder: Path) -> str:
    """Return the file and line below a folder that an error comes from, or nothing."""
    lines = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename is not None:
        lines = [(error.filename, error.lineno)]
    for filename, line in reversed(lines):
        if Path(filename).is_relative_to(folder):
            return f"{Path(filename).relative_to(folder)}:{line}"
    return ""


def _traced_back(error: BaseException, folder: Path) -> str:
    """Return an error's traceback and its whole message.

    It begins at the first line below a folder, and leaves out the lines of Frobench and pytest.
    """
    trace = error.__traceback__
    while trace and not Path(trace.tb_frame.f_code.co_filename).is_relative_to(folder):
        trace = trace.tb_next
    told = traceback.TracebackException(type(error), error, trace or error.__traceback__)
    _leave_ours_out(told)
    return "".join(told.format())[-LONGEST_DETAILS:].rstrip()


def _leave_ours_out(told: traceback.TracebackException) -> None:
    """Leave frames of Frobench and pytest out of a traceback and of those that led to it."""
    told.stack[:] = [frame for frame in told.stack if not _is_of_harness(Path(frame.filename))]
    for led in (told.__cause__, told.__context__):
        if led is not None:
            _leave_ours_out(led)


def _is_of_harness(file: Path) -> bool:
    return file.parent.name in HARNESS or file.resolve().is_relative_to(SUITE)


def _text(error: BaseException) -> str:
    text = ""
    with suppress(Exception):  # the text of an error may itself raise another one
        text = str(getattr(error, "msg", None) or error)
        if isinstance(error, pytest.FixtureLookupError):
            text = error.formatrepr().errorstring
    return text.strip()


def called_once(sampler: Sampler, name: str, settings: Settings, trace: str | None) -> Measured:
    """Warm a body up and call it once.

    trace : the file that PyTorch's profiler writes the call to, if one is wanted
    """
    sampler.warm_up(settings)
    with no_garbage_collection(), _traced(trace, sampler.took):
        sampler.get_ready()
        with _marked(f"{MARK}{name}"):
            _, seconds, sampler.result = sampler.timed()
    return Measured(samples=[seconds], sampled=seconds)


@contextmanager
def _traced(file: str | None, took: Callable[[], float]) -> Iterator[None]:
    """Trace the context into a file; a call by `took` before it pays for starting the profiler."""
    if file is None:
        yield
        return
    profiler = torch.profiler
    with profiler.profile(
        activities=profiler.supported_activities(),  # type: ignore[no-untyped-call]
        schedule=profiler.schedule(wait=0, warmup=1, active=1),
        on_trace_ready=lambda done: done.export_chrome_trace(file),
        record_shapes=True,
        acc_events=True,
    ) as traced:
        took()
        traced.step()
        yield


@contextmanager
def _marked(name: str) -> Iterator[None]:
    """Name the context for PyTorch's profiler and, on CUDA, for NVIDIA's, which record it alone."""
    with ExitStack() as marks:
        if torch.cuda.is_available():
            with suppress(AttributeError, RuntimeError):  # a build without them
                torch.cuda.profiler.start()  # type: ignore[no-untyped-call]
                marks.callback(torch.cuda.profiler.stop)
                torch.cuda.nvtx.range_push(name)  # type: ignore[no-untyped-call]
                marks.callback(torch.cuda.nvtx.range_pop)
        marks.enter_context(torch.profiler.record_function(name))
        yield
