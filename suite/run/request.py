# SPDX-License-Identifier: MIT
"""What the user asks of a run, and the draft that settles it."""

import random
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from frobench.suite.errors import CannotRunError
from frobench.suite.profiles import PEAK_SECONDS, SEARCH_PART, settings_for
from frobench.suite.project.git import describe, facts, project_folder
from frobench.suite.run.plan import Draft
from frobench.suite.stored.run import CommitInfo, Outcome, ProfileName, Run, Settings


class Request(Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    results: Path
    benchmarks: Path
    profile: ProfileName = "standard"
    devices: list[str] = []  # names, or none for the CPU and every accelerator
    expression: str = ""
    budget: float | None = None
    launches: int | None = None
    deadline: float | None = None
    seed: int | None = None
    peak: bool = False  # give the searches time beyond the budget
    like: Run | None = None  # a run to repeat: its cases and settings hold, and by default devices
    resume: str | None = None  # a run to finish by its own plan, or ``last``
    wait: bool = False  # until no other run measures this machine, rather than refuse
    project: Path | None = None  # a folder of the project, if not in the benchmarks' repository
    label: str = ""  # the name of this machine among others of its kind; a seal of it is stored
    paths: list[str] = []  # see `Draft`
    kept_out: str = ""


def make_draft(request: Request, commit: CommitInfo, name: str, label: str | None = None) -> Draft:
    """Settle what the user asked for; raises `CannotRunError` if the project is no repository."""
    seed = random.SystemRandom().randrange(2**31) if request.seed is None else request.seed
    settings = _settings(request)
    tree = project_folder(request.project, request.benchmarks)
    repeated = request.like.benchmarks if request.like else []
    searches = {case.fullname: case.extra_info.search for case in repeated}
    return Draft(
        run=name,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        seed=seed,
        commit=commit,
        benchmarks=str(request.benchmarks),
        settings=settings,
        budget_asked=request.budget is not None,
        like=[
            Outcome(
                fullname=case.fullname,
                group=case.group,
                params=case.params,
                status="skipped",
                reason="not found: it needs its benchmark and "
                + ", ".join(case.extra_info.devices),
            )
            for case in repeated
        ],
        search_seconds=PEAK_SECONDS if request.peak else SEARCH_PART * settings.budget,
        searched={name: search for name, search in searches.items() if search is not None},
        project_folder=str(tree) if tree else None,
        project=facts(tree) if tree else None,
        paths=request.paths,
        kept_out=request.kept_out,
        label=label,
    )


def require_same_commit(draft: Draft | None) -> None:
    """Raise `CannotRunError` if the project is not as it was when the run of a draft began."""
    if draft is None or draft.project_folder is None or draft.project is None:
        return
    now = facts(Path(draft.project_folder))
    if now != draft.project:
        raise CannotRunError(
            f"the run {draft.run} began with {describe(draft.project)}, and there is "
            f"{describe(now)} now: check that commit out again, or measure anew"
        )


def _settings(request: Request) -> Settings:
    if request.like is not None:
        done = request.like.frobench
        devices = request.devices or done.settings.devices
        return replace(done.settings, devices=devices, launches=len(done.launches))
    settings = settings_for(
        request.profile,
        request.devices,
        budget=request.budget,
        launches=request.launches,
        deadline=request.deadline,
        expression=request.expression,
    )
    return replace(settings, budget=settings.budget + PEAK_SECONDS * request.peak)
