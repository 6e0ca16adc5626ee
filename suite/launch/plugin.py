# SPDX-License-Identifier: MIT
"""The pytest plugin: gives benchmarks their cases, their devices and their `measure`.

`pytest benchmarks/` works by itself: finished samples are handed to pytest-benchmark, which shows
them. A launch of `frobench run` is the same session with `--frobench-launch`, which says what to
measure in which order, and where to write it.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from copy import copy
from functools import partial
from typing import Any, TypeGuard

import msgspec
import pytest

from frobench.suite.errors import DoesNotFitError
from frobench.suite.journal import Measured, Stopped
from frobench.suite.kit import device as dev
from frobench.suite.kit.abilities import precision
from frobench.suite.kit.cases import PROFILES
from frobench.suite.kit.device import UnknownDeviceError
from frobench.suite.kit.group import Group
from frobench.suite.kit.workers import Worker, put_away
from frobench.suite.launch import collection
from frobench.suite.launch.case import WINDOW, Measure, raised_at
from frobench.suite.launch.process_state import ProcessState
from frobench.suite.launch.search import ShapeSearch
from frobench.suite.launch.session import Session
from frobench.suite.lazy_torch import is_imported
from frobench.suite.plan import OPTION, LaunchSpec, Plan, read_spec
from frobench.suite.profiles import settings_for

SESSION = pytest.StashKey[Session]()
CASE = pytest.StashKey[Measure]()


class Replay:
    """A timer for pytest-benchmark whose pairs of readings are as far apart as finished samples.

    `pedantic` reads its timer twice a round, and never calibrates.
    """

    __name__ = "perf_counter"

    def __init__(self) -> None:
        self._readings: deque[float] = deque()

    def __call__(self) -> float:
        """Return zero and a sample in turn."""
        return self._readings.popleft()

    def show(self, benchmark: Any, measured: Measured) -> None:  # noqa: ANN401 - untyped
        """Hand samples to pytest-benchmark's fixture, whose timer this is."""
        for sample in measured.samples:
            self._readings.extend((0.0, sample))
        benchmark.extra_info["work"] = msgspec.to_builtins(measured.work)
        benchmark.extra_info["check"] = msgspec.to_builtins(measured.check)
        benchmark.extra_info["iterations"] = measured.iterations
        benchmark.pedantic(lambda: None, rounds=len(measured.samples))


@pytest.fixture
def measure(
    request: pytest.FixtureRequest,
    benchmark: Any,  # noqa: ANN401 - pytest-benchmark is untyped
) -> Iterator[Measure]:
    """Time a body and check its result; see `Measure`."""
    item, session = request.node, request.config.stash[SESSION]
    case = item.stash[CASE]
    # float32 means float32, unless a benchmark asks for less
    with precision("float32") if is_imported() else nullcontext():
        state = ProcessState()
        session.tidy_up()
        for name in collection.ARGUMENTS:
            if name in item.fixturenames and name not in {"workers", "group"}:
                fixture = request.getfixturevalue(name)
                case.involve(*(fixture if isinstance(fixture, list) else [fixture]))
        yield case
        state.silence()
        changed = state.changes()
    session.is_changed |= bool(changed)
    if case.measured is None:
        if case.refused is None and not case.repeats:
            pytest.fail("the benchmark measured nothing")
        return
    if changed:
        pytest.fail(f"the benchmark left changed settings behind: {', '.join(changed)}")
    if case.refused is None:  # else the benchmark failed after its timing
        item.get_closest_marker("benchmark").kwargs["timer"].show(benchmark, case.measured)


@pytest.fixture
def search(request: pytest.FixtureRequest) -> ShapeSearch:
    """Tell the benchmark which shape of product to measure; see `ShapeSearch`."""
    where = "accelerator" if "accelerator" in request.fixturenames else "device"
    searches = request.config.stash[SESSION].searches
    return partial(searches.find, request.node.nodeid, request.getfixturevalue(where))


def _device(request: pytest.FixtureRequest) -> dev.Device:
    """Run the case on this device."""
    return dev.Device(request.param, request.config.stash[SESSION].spec.seed)


def _devices(request: pytest.FixtureRequest) -> list[dev.Device]:
    """Run the case on these accelerators together, from one process."""
    seed = request.config.stash[SESSION].spec.seed
    return [dev.Device(name, seed) for name in request.param.split("+")]


device = pytest.fixture(name="device")(_device)
accelerator = pytest.fixture(name="accelerator")(_device)
devices = pytest.fixture(name="devices")(_devices)
pair = pytest.fixture(name="pair")(_devices)


@pytest.fixture
def workers(request: pytest.FixtureRequest) -> Iterator[list[Worker]]:
    """Run the case in a process on each accelerator, or on each half of the CPU."""
    seated = request.config.stash[SESSION].workers(collection.seats(request.param))
    yield seated
    refused = request.node.stash[CASE].refused
    if refused is None or refused.status == "skipped":  # else one may never answer again
        put_away(seated)


@pytest.fixture
def group(request: pytest.FixtureRequest) -> Group:
    """Run the case in processes that exchange data: of all nodes, or of this machine."""
    return request.config.stash[SESSION].group(request.param)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a session of its own, and the one that makes it a launch."""
    group = parser.getgroup("frobench")
    group.addoption("--frobench-profile", choices=PROFILES, default="standard", help="which cases")
    group.addoption("--frobench-devices", default="", metavar="LIST", help="such as cpu,cuda:0")
    group.addoption(OPTION, metavar="FILE", help="what `frobench run` asks for")


def pytest_configure(config: pytest.Config) -> None:
    """Find out what this session is to measure."""
    config.addinivalue_line("markers", "cases(profile, **axes): parameters of a benchmark")
    config.addinivalue_line("markers", "cpu_twins(**functions): CPU cases beside an accelerator")
    config.addinivalue_line("markers", "absent(reason): why no device here can run the case")
    config.addinivalue_line("markers", "on_one_machine(**functions): cases of groups without nodes")
    try:
        if (path := config.getoption(OPTION)) is not None:
            spec = read_spec(path)
        else:
            wanted = [name for name in config.getoption("--frobench-devices").split(",") if name]
            settings = settings_for(config.getoption("--frobench-profile"), wanted)
            plan = Plan(run="", started="", seed=0, settings=settings, benchmarks="")
            spec = LaunchSpec(plan=plan, mode="alone", journal="")
        config.stash[SESSION] = Session(spec)
        if spec.settings.devices not in ([], ["cpu"]):  # accelerators are named
            config.stash[SESSION].settle()
    except UnknownDeviceError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the workers."""
    if SESSION in config.stash:
        config.stash[SESSION].drop_workers()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Cross a benchmark's grids with the devices."""
    if "measure" in metafunc.fixturenames:
        frobench = metafunc.config.stash[SESSION]
        if collection.device_argument(metafunc.fixturenames) is not None:
            import torch  # noqa: F401, PLC0415 - which knows the devices

            frobench.settle()
        collection.parametrize(metafunc, frobench.spec.settings)


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Keep what an expression leaves out, whose names may be meant."""
    if items:
        items[0].config.stash[SESSION].deselected += items


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the cases into this launch's order, and hand each a timer that replays its samples."""
    frobench = config.stash[SESSION]
    frobench.settle()
    frobench.remember(_benchmarks(items))
    order = {name: position for position, name in enumerate(frobench.spec.order)}
    wanted = [
        item for item in items if collection.has_cases(item) and (not order or item.nodeid in order)
    ]
    config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
    items[:] = sorted(wanted, key=lambda item: order.get(item.nodeid, 0))
    by_name = {item.nodeid: item for item in _benchmarks(items)}
    for item in by_name.values():
        item.add_marker(pytest.mark.benchmark(timer=Replay(), group=item.path.stem[6:]))
        # A vendor's warning must not fail a measurement; a case that fails uses no fixture.
        unused = "ignore:Benchmark fixture was not used"
        item.add_marker(pytest.mark.filterwarnings("default", unused))
    for name in frobench.spec.plan.windows(frobench.spec.launch):
        if name in by_name:
            again = copy(by_name[name])
            again.stash = pytest.Stash()
            again.stash[WINDOW] = True
            again._initrequest()  # noqa: SLF001 - as pytest does when it runs an item anew
            items.append(again)


def pytest_exception_interact(
    node: pytest.Item | pytest.Collector,
    call: pytest.CallInfo[object],
    report: pytest.CollectReport | pytest.TestReport,
) -> None:
    """Say in one line why a file of benchmarks cannot be collected; end where that was asked."""
    if call.excinfo is not None and isinstance(call.excinfo.value, pytest.exit.Exception):
        raise call.excinfo.value
    if isinstance(report, pytest.CollectReport) and call.excinfo is not None:
        error = call.excinfo.value
        if isinstance(error, pytest.Collector.CollectError) and error.__cause__ is not None:
            error = error.__cause__
        where = raised_at(error, node.path.parent) or node.path.name
        text = str(error).strip() or "without a message"
        message = f"{where}: {type(error).__name__}: {text}"
        node.config.stash[SESSION].write(Stopped(message=message))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write down which cases there are, and end a launch of a run that had others."""
    frobench, items = session.config.stash[SESSION], _benchmarks(session.items)
    if changed := collection.changed_since(frobench.spec.plan.cases, frobench.spec.order, items):
        message = (
            f"{', '.join(changed)}: changed, or not found any more, since the run began; one run "
            "measures one version, so undo the change, or begin another run"
        )
        frobench.write(Stopped(message=message))
        pytest.exit(message)
    frobench.searches.waiting = {
        item.nodeid
        for item in items
        if "search" in item.fixturenames
        if collection.parameters(item)["device"] != collection.NONE
        if WINDOW not in item.stash
    }
    if frobench.spec.mode in {"collect", "pilot"}:
        found = collection.collected(items, frobench.spec.settings)
        if not items:
            passed_over = filter(collection.has_cases, frobench.deselected)
            found.near = collection.near(frobench.spec.settings.expression, passed_over)
        if frobench.spec.mode == "collect":
            collection.add_machine(found, items, frobench.spec.settings)
        frobench.write(found)


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[None]:
    """Bring the devices to a steady clock, measure the harness, and read the gauge to the end."""
    benchmarks = _benchmarks(session.items)
    if session.config.option.collectonly or not benchmarks:
        return (yield)
    frobench = session.config.stash[SESSION]
    frobench.get_ready(len(benchmarks))
    ended = yield
    frobench.finish()
    return ended


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Make a case's devices ready again, and record that the case is in flight."""
    if _is_case(item):
        session = item.config.stash[SESSION]
        devices = str(collection.parameters(item)["device"]).split("+")
        item.stash[CASE] = Measure(session, item, session.before_case(devices))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what no device here can run, or a smaller case showed to be too large."""
    if absent := item.get_closest_marker("absent"):
        pytest.skip(*absent.args)
    if _is_case(item):
        if "measure" not in item.fixturenames:
            pytest.fail("it has no argument `measure`")
        item.config.stash[SESSION].skip_if_left_out(item)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Any:  # noqa: ANN401 - as pytest has it
    """Skip what does not fit into memory."""
    try:
        return (yield)
    except DoesNotFitError as error:
        pytest.skip(str(error))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:  # noqa: ANN401 - as pytest has it
    """Write down what became of the case, once it is over."""
    report = yield
    if (case := item.stash.get(CASE, None)) is not None:
        if call.excinfo is not None and (case.refused is None or report.failed):
            case.refuse("skipped" if report.skipped else "failed", call.excinfo.value)
        if report.when == "teardown":
            case.conclude()
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_update_machine_info(machine_info: dict[str, Any]) -> None:
    """Keep the host's name out of pytest-benchmark's own JSON."""
    machine_info.pop("node", None)


def _benchmarks(items: Sequence[pytest.Item]) -> list[pytest.Function]:
    return [i for i in items if isinstance(i, pytest.Function) and "measure" in i.fixturenames]


def _is_case(item: pytest.Item) -> TypeGuard[pytest.Function]:
    """Return whether an item is a case; plain pytest may also run tests."""
    alone = item.config.stash[SESSION].spec.mode == "alone"
    return bool(_benchmarks([item])) if alone else isinstance(item, pytest.Function)
