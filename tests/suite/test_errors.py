# SPDX-License-Identifier: MIT
"""Of the errors that others raise their type is stored, and messages that are known."""

import pynvml
import pytest

from frobench.suite.errors import in_brief, known_message
from tests.instruments.faults.secrets import PLACED, RAISED

KNOWN = (
    (
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB",
        "out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB",
    ),
    (
        "CUDA error: no kernel image is available for execution on the device\nCompile with",
        "no kernel image is available for execution on the device",
    ),
    (
        "The NVIDIA driver on your system is too old (found version 11040). Please update your",
        "The NVIDIA driver on your system is too old (found version 11040)",
    ),
    ("\"addmm_impl_cpu_\" not implemented for 'Half'", "not implemented for 'Half'"),
    ("cuDNN error: CUDNN_STATUS_NOT_SUPPORTED. This error may", "CUDNN_STATUS_NOT_SUPPORTED"),
)


class UnspeakableError(Exception):
    """Fails once more when it is to be read."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(("message", "known"), KNOWN)
def test_what_torch_says_is_kept_with_its_numbers_and_nothing_around_it(
    message: str, known: str
) -> None:
    assert known_message(f"jane: {message}; jane") == known
    assert in_brief(RuntimeError(message)) == f"RuntimeError: {known}"


@pytest.mark.parametrize("secret", [*RAISED, *PLACED])
def test_of_any_other_text_nothing_is_kept(secret: str) -> None:
    text = {**RAISED, **PLACED}[secret]
    assert secret in text
    assert in_brief(ValueError(text)) == "ValueError"
    assert in_brief(OSError(text)) == "OSError"
    assert in_brief(OSError(13, text, secret)) == "PermissionError: Permission denied"


def test_an_error_that_cannot_be_read_has_its_type() -> None:
    assert in_brief(UnspeakableError()) == "UnspeakableError"


def test_a_driver_s_words_for_its_numbers_are_kept() -> None:
    assert in_brief(pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)) == "Not Supported"
