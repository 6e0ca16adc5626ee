# SPDX-License-Identifier: MIT
"""Sites built once from stored runs, a browser, and every page of the sites as a parameter."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser import chromium, sites

SITES = "FROBENCH_TEST_SITES"
"""Variable that tells the processes of one session where the sites lie."""


def pytest_configure(config: pytest.Config) -> None:
    """Build the sites before anything is collected, once for all processes."""
    if SITES not in os.environ:
        if not chromium.there():
            pytest.exit(chromium.MISSING, returncode=3)
        folder = TemporaryDirectory(prefix="frobench-sites-")
        config.add_cleanup(folder.cleanup)
        sites.build(Path(folder.name))
        os.environ[SITES] = folder.name


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for a `place` every page of the sites."""
    if "place" in metafunc.fixturenames:
        places = sites.pages(Path(os.environ[SITES]))
        metafunc.parametrize("place", places, ids=[place.name for place in places])


@pytest.fixture(scope="session")
def folder() -> Path:
    """Return the folder in which the sites lie."""
    return Path(os.environ[SITES])


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start a browser for all tests of this process."""
    with sync_playwright() as playwright:
        one = chromium.launch(playwright.chromium)
        yield one
        one.close()
