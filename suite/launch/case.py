# SPDX-License-Identifier: MIT
"""One case of a session: its samples and the check of its result, or why it has none."""

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from time import monotonic
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, Literal

import pytest
import torch
from torch.profiler import profile, record_function, schedule, supported_activities

from frobench.suite import privacy
from frobench.suite.checkout import BENCHMARKS, SUITE
from frobench.suite.errors import LostRankError, TooLongError, WrongResultError, in_brief
from frobench.suite.journal import Busy, LaunchSpec, Measured, Refused
from frobench.suite.kit.cases import Parameters
from frobench.suite.kit.check_result import briefly, worst
from frobench.suite.kit.device import Device
from frobench.suite.kit.garbage import no_garbage_collection
from frobench.suite.kit.workers import WorkerError
from frobench.suite.launch.collection import leads, parameters
from frobench.suite.launch.collection import work as declared_work
from frobench.suite.measure.around import Inputs
from frobench.suite.measure.climb import AS_BEFORE, LEEWAY
from frobench.suite.measure.explore import Explorer
from frobench.suite.measure.sampler import Measurement, Sampler, measure, repeat
from frobench.suite.profiles import brief, headline_times
from frobench.suite.stored.differences import name_of
from frobench.suite.stored.types import Check, Settings, Work

MARK = "frobench: "
"""Before a case's name, where a profiler shows the one call of ``--once``."""

LONGEST_REASON, LONGEST_DETAILS = 300, 20_000
"""Characters of a stored reason, and of an error with its traceback, of which the end is kept."""
OUTCOMES = (pytest.skip.Exception, pytest.fail.Exception)
IN_WORDS = (pytest.FixtureLookupError, WrongResultError, LostRankError)
"""Errors whose text names nothing but what stands in benchmarks."""
LAZY = (GeneratorType, CoroutineType, AsyncGeneratorType)
"""Results of bodies that have not run yet."""


class CaseTimer:
    """Times the bodies of a session's cases, each as the session's mode asks."""

    def __init__(self, spec: LaunchSpec) -> None:
        self._spec = spec
        self._explorer = Explorer(spec.settings)
        self._position = max(0, len(spec.plan.cases) - len(spec.order))

    def remember(self, item: pytest.Function, record: Measured | Refused) -> None:
        """Take up what an earlier process of the pilot saw of a case."""
        climb = self._explorer.climb
        if isinstance(record, Measured):
            climb.climbed(*_family(item), record.work, record.quickest)
        elif record.fatal:
            climb.leave_out(*_family(item), None, record.reason)

    def skip_if_left_out(self, item: pytest.Function) -> None:
        """Skip a case that a smaller one of its family showed to be too large."""
        find_work = partial(declared_work, item)
        climb, times = self._explorer.climb, self._times(item)
        if reason := climb.refusal(*_family(item), find_work, times):
            pytest.skip(reason)

    def _times(self, item: pytest.Function) -> float:
        """Return how often the longest call one of a case may take; a pilot explores beyond it.

        The plan then decides by what earlier runs of the machine measured.
        """
        settings = self._spec.settings
        if self._spec.mode != "pilot":
            return LEEWAY
        return AS_BEFORE * (headline_times(settings) if leads(item, settings) else 1.0)

    def measure(
        self,
        item: pytest.Function,
        sampler: Sampler,
        work: Work,
        check: Callable[[Any], Check] | None,
        apart: Mapping[str, float],
    ) -> Measured:
        """Time a body and check its result; raise what makes the case fail or be left out."""
        inputs = Inputs(sampler.body, sampler.against)
        measurement = self._sampled(item, sampler, work)
        peaks = {device.name: peak_bytes(device, sampler) for device in sampler.devices}
        begun = monotonic()
        mode = self._spec.mode
        with briefly(brief=mode == "pilot" or (mode == "measure" and self._spec.launch > 0)):
            checked = _checked(check, measurement.results)
        check_seconds = monotonic() - begun
        self._position += 1
        return Measured(
            launch=self._spec.launch,
            case=item.nodeid,
            order=self._position,
            samples=measurement.host,
            iterations=measurement.iterations,
            warmup=measurement.warmup,
            sampled=measurement.sampled,
            prepared=measurement.prepared,
            work=work,
            check=checked,
            checked=check_seconds,
            parts=measurement.part_medians() | sampler.parts() | dict(apart),
            peak_bytes=sum(peak or 0 for peak in peaks.values()) or None,
            against=measurement.against or None,
            flushed_bytes=sampler.cold.flushed_bytes() if sampler.cold else None,
            commonest=None if mode == "pilot" else inputs.commonest(),
            idle_devices=[
                name for name, peak in peaks.items() if peak == 0 and name not in inputs.devices()
            ],
            in_a_row=not (sampler.before or sampler.cold),
            undisturbed=min(measurement.undisturbed, default=None),
        )

    def _sampled(self, item: pytest.Function, sampler: Sampler, work: Work) -> Measurement:
        spec = self._spec
        if spec.mode == "once":
            return called_once(sampler, name_of(item.nodeid), spec.settings, spec.trace)
        if spec.mode in {"pilot", "alone"}:
            try:
                times = self._times(item)
                explored = self._explorer.explore(*_family(item), sampler, work, times)
            except TooLongError as error:
                raise pytest.skip.Exception(str(error)) from error
            if spec.mode == "pilot":
                return explored
        is_brief = item.nodeid in spec.plan.brief
        return measure(sampler, brief(spec.settings) if is_brief else spec.settings)

    def repeat(
        self, item: pytest.Function, sampler: Sampler, check: Callable[[Any], Check] | None
    ) -> Busy:
        """Repeat a body for its window, after it was measured."""
        window, result = repeat(sampler)
        _checked(check, [result])
        return Busy(launch=self._spec.launch, case=item.nodeid, **window._asdict())


def _checked(check: Callable[[Any], Check] | None, results: Sequence[Any]) -> Check | None:
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


def _family(item: pytest.Function) -> tuple[str, Parameters]:
    return f"{item.module.__name__}.{item.function.__name__}", parameters(item)


def refusal(
    launch: int,
    case: str,
    status: Literal["skipped", "failed"],
    error: BaseException,
    file: Path,
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
    if isinstance(error.__cause__, TooLongError):
        refused.sampled = error.__cause__.seconds
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
    refused.reason = privacy.hide(reason, privacy.own_names())[:LONGEST_REASON]
    return refused


def _is_ours(error: BaseException, file: Path) -> bool:
    """Tell whether Frobench wrote the text of an error."""
    if isinstance(error, OUTCOMES):
        frames = (Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__))
        raised = [name for name in frames if name.parent.name not in {"_pytest", "pluggy"}]
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
    """Return an error's traceback, from the first line below a folder on, and its whole message."""
    trace = error.__traceback__
    while trace and not Path(trace.tb_frame.f_code.co_filename).is_relative_to(folder):
        trace = trace.tb_next
    lines = traceback.format_exception(type(error), error, trace or error.__traceback__)
    return "".join(lines)[-LONGEST_DETAILS:].rstrip()


def _text(error: BaseException) -> str:
    text = ""
    with suppress(Exception):  # the text of an error may itself raise another one
        text = str(getattr(error, "msg", None) or error)
        if isinstance(error, pytest.FixtureLookupError):
            text = error.formatrepr().errorstring
    return text.strip()


def called_once(sampler: Sampler, name: str, settings: Settings, trace: str | None) -> Measurement:
    """Warm a body up and call it once.

    trace : the file that PyTorch's profiler writes the call to, if one is wanted
    """
    measurement = Measurement()
    sampler.warm_up(settings)
    with no_garbage_collection(), _traced(trace, sampler.took):
        sampler.get_ready()
        with _marked(f"{MARK}{name}"):
            _, seconds, measurement.result = sampler.timed()
    measurement.host, measurement.sampled = [seconds], seconds
    return measurement


@contextmanager
def _traced(file: str | None, took: Callable[[], float]) -> Iterator[None]:
    """Trace the context into a file; a call by `took` before it pays for starting the profiler."""
    if file is None:
        yield
        return
    with profile(
        activities=supported_activities(),  # type: ignore[no-untyped-call]
        schedule=schedule(wait=0, warmup=1, active=1),
        on_trace_ready=lambda done: done.export_chrome_trace(file),
        record_shapes=True,
        acc_events=True,
    ) as profiler:
        took()
        profiler.step()
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
        marks.enter_context(record_function(name))
        yield
