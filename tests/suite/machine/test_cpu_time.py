# SPDX-License-Identifier: MIT
"""What a call waited for the processor is known from Linux's accounts, and taken off."""

import os
from pathlib import Path

import psutil
import pytest

from frobench.suite.machine.cpu_time import Accounts, accounts, undisturbed

SECOND = 10**9


def plant(root: Path, *threads: str) -> Path:
    """Write the accounts of this process's threads below a folder that stands for `/`."""
    for number, account in enumerate(threads):
        folder = root / f"proc/{os.getpid()}/task/{number}"
        folder.mkdir(parents=True)
        (folder / "schedstat").write_text(f"{account}\n")
    return root


def test_the_accounts_of_all_threads_are_added_up(tmp_path: Path) -> None:
    root = plant(tmp_path, f"{2 * SECOND} {SECOND} 7", f"{SECOND} 0 1")
    assert accounts(root) == pytest.approx((3.0, 1.0))


@pytest.mark.parametrize("account", ["", "not supported"])
def test_a_system_without_accounts_has_none(tmp_path: Path, account: str) -> None:
    assert accounts(plant(tmp_path, account)) is None
    assert accounts(tmp_path / "none") is None


@pytest.mark.skipif(not psutil.LINUX, reason="only Linux keeps these accounts")
def test_a_call_that_computes_runs_about_as_long_as_the_process_has() -> None:
    before, ran = accounts(), psutil.Process().cpu_times()
    while psutil.Process().cpu_times().user < ran.user + 0.2:
        pass
    after = accounts()
    assert before is not None
    assert after is not None
    assert after.since(before).ran >= 0.1


@pytest.mark.parametrize(
    ("ran", "waited", "expected"),
    [
        (1.0, 0.0, 3.0),  # it slept, or waited for a device
        (1.0, 2.0, 1.0),  # one thread, and two programs beside it
        (2.0, 6.0, 1.005),  # two threads that waited at the same time on two cores
        (0.0, 0.0, 3.0),
    ],
)
def test_what_a_call_waited_is_taken_off_but_not_what_it_ran(
    ran: float, waited: float, expected: float
) -> None:
    before = Accounts(10.0, 20.0)
    after = Accounts(10.0 + ran, 20.0 + waited)
    assert undisturbed(3.0, before, after, cores=2) == pytest.approx(expected)


def test_a_call_too_short_for_the_accounts_took_what_the_clock_says() -> None:
    before = Accounts(10.0, 20.0)
    assert undisturbed(3e-3, before, Accounts(10.0, 20.004), cores=2) == 3e-3
    assert undisturbed(8e-3, before, Accounts(10.001, 20.04), cores=2) == pytest.approx(5.5e-3)


def test_without_accounts_a_call_took_what_the_clock_says() -> None:
    assert undisturbed(3.0, None, Accounts(1.0, 2.0), cores=2) == 3.0
    assert undisturbed(3.0, Accounts(1.0, 2.0), None, cores=2) == 3.0


def test_a_thread_that_ended_meanwhile_makes_no_time_negative() -> None:
    assert undisturbed(3.0, Accounts(5.0, 5.0), Accounts(1.0, 1.0), cores=2) == 3.0
