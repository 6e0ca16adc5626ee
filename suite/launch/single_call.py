# SPDX-License-Identifier: MIT
"""The one call: after the warm-up, between marks that profilers show."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import torch
from torch.profiler import profile, record_function, schedule, supported_activities

from suite.garbage import no_garbage_collection
from suite.measure.measurement import Measurement
from suite.measure.sampler import Sampler
from suite.stored.run import Settings

MARK = "frobench: "
"""Before a case's name, where a profiler shows the call."""


def called_once(sampler: Sampler, name: str, settings: Settings, trace: str | None) -> Measurement:
    """Warm a body up and call it once, with what is asked for before each sample.

    trace : the file that PyTorch's profiler writes the call to, if there is to be one
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
    """Write what happens meanwhile to a file; a call before it pays for starting the profiler."""
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
    """Name what happens meanwhile for PyTorch's profiler, and on CUDA for NVIDIA's, which begin."""
    with ExitStack() as marks:
        if torch.cuda.is_available():
            with suppress(AttributeError, RuntimeError):  # a build without them
                torch.cuda.profiler.start()  # type: ignore[no-untyped-call]
                marks.callback(torch.cuda.profiler.stop)
                torch.cuda.nvtx.range_push(name)  # type: ignore[no-untyped-call]
                marks.callback(torch.cuda.nvtx.range_pop)
        marks.enter_context(record_function(name))
        yield
