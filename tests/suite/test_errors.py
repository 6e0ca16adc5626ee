# SPDX-License-Identifier: MIT
"""Of the errors that others raise their type is stored, and messages that are known."""

import pynvml
import pytest

from frobench.suite.errors import in_brief, known_message
from frobench.suite.exit_codes import absent_in, absent_module
from tests.instruments.faults.secrets import PLACED, RAISED

KNOWN = (
    "out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB",
    "no kernel image is available for execution on the device",
    "The NVIDIA driver on your system is too old (found version 11040)",
    "not implemented for 'Half'",
    "CUDNN_STATUS_NOT_SUPPORTED",
)


class UnspeakableError(Exception):
    """Fails once more when it is to be read."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize("known", KNOWN)
def test_what_torch_says_is_kept_with_its_numbers_and_nothing_around_it(known: str) -> None:
    message = f'jane: CUDA error: "jane" {known}. Please\ncompile with jane'
    assert known_message(message) == known
    assert in_brief(RuntimeError(message)) == f"RuntimeError: {known}"


@pytest.mark.parametrize("secret", [*RAISED, *PLACED])
def test_of_any_other_text_nothing_is_kept(secret: str) -> None:
    text = {**RAISED, **PLACED}[secret]
    assert secret in text
    assert (in_brief(ValueError(text)), in_brief(OSError(text))) == ("ValueError", "OSError")
    assert in_brief(OSError(13, text, secret)) == "PermissionError: Permission denied"


def test_an_error_that_cannot_be_read_has_its_type() -> None:
    assert in_brief(UnspeakableError()) == "UnspeakableError"


def test_a_package_that_is_absent_is_found_by_its_module_unless_that_is_our_own() -> None:
    error = ImportError("no picture")
    error.__cause__ = ModuleNotFoundError(name="PIL.Image")
    assert absent_module(error) == "PIL"
    assert absent_module(ModuleNotFoundError(name="frobench.here")) is None
    ended = "Traceback:\nModuleNotFoundError: No module named '{}.here'\n"
    assert [absent_in(ended.format(name)) for name in ("PIL", "frobench")] == ["PIL", None]


def test_a_driver_s_words_for_its_numbers_are_kept() -> None:
    assert in_brief(pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)) == "Not Supported"
