# SPDX-License-Identifier: MIT
"""A shared file holds no secret, wherever it was written, and messages stay readable."""

import json
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from suite import publish
from suite.machine.values import is_harmless
from suite.machine.variables import stored_variables
from suite.personal import private
from suite.stored import store
from suite.stored.run import Run
from tests.instruments.command import frobench
from tests.instruments.judging import made
from tests.suite.checks.test_checks_privacy import planted, seeded, small

if TYPE_CHECKING:
    from collections.abc import Iterator

PEM = "-----BEGIN RSA PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\nAAAAE\n-----END RSA PRIVATE KEY-----"
SECRETS = {
    # what is secret: a text that holds it
    "hunter2": "RuntimeError: password is hunter2",
    "swordfish": "RuntimeError: password is swordfish",
    "correcthorse": "password: correcthorse",
    "opensesame": "login failed, passwd=opensesame",
    "Tr0ub4dor": "password Tr0ub4dor was refused",
    "battery-staple": "passphrase: battery-staple",
    "xyzzy1": '"password": "xyzzy1"',
    "plugh1": "DB_PASSWORD=plugh1",
    "w4ndbkey": "WANDB_API_KEY w4ndbkey",
    "letmein": "WANDB_API_KEY letmein",
    "sesame99": "MY_SECRET = sesame99",
    "quux": "HF_TOKEN is quux",
    "notsotoken": "ACME_AUTH notsotoken",
    "k3yk3yk3y": "api key k3yk3yk3y",
    "abcd1234": "api_key=abcd1234",
    "efgh5678": "apikey: efgh5678",
    "ijkl9012": "access-token: ijkl9012",
    "AccountSecret1": "AccountKey=AccountSecret1;EndpointSuffix=core",
    "wJalrXUtnFEMI/K7MDENG": "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG",
    "lic-77-abc": "license key: lic-77-abc",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789": "git: ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "gho_abcdefghijklmnopqrstuvwxyz0123456789": "gho_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_11ABCDEFG0abcdefghij": "github_pat_11ABCDEFG0abcdefghij expired",
    "glpat-abcdefghijklmnopqrst": "glpat-abcdefghijklmnopqrst",
    "hf_abcdefghijklmnopqrstuvwxyz": "401 for hf_abcdefghijklmnopqrstuvwxyz",
    "sk-abcdefghijklmnopqrstuvwx": "key sk-abcdefghijklmnopqrstuvwx",
    "sk-proj-abcdefghijklmnopqrst": "sk-proj-abcdefghijklmnopqrst",
    "sk_live_abcdefghijklmnopqrst": "sk_live_abcdefghijklmnopqrst",
    "nvapi-abcdefghijklmnopqrstuv": "nvapi-abcdefghijklmnopqrstuv",
    "npm_abcdefghijklmnopqrstuvwxyz": "npm_abcdefghijklmnopqrstuvwxyz",
    "pypi-AgEIcHlwaS5vcmcCJDE": "pypi-AgEIcHlwaS5vcmcCJDE",
    "AKIAIOSFODNN7EXAMPLE": "AKIAIOSFODNN7EXAMPLE",
    "ASIAIOSFODNN7EXAMPLE": "ASIAIOSFODNN7EXAMPLE denied",
    "AIzaSyA1234567890abcdefghijklmnopqrstu": "AIzaSyA1234567890abcdefghijklmnopqrstu",
    "ya29.a0AfH6SMBabc": "ya29.a0AfH6SMBabc",
    "xoxb-123456789012-abcdef": "xoxb-123456789012-abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3": (
        "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3"
    ),
    "b3BlbnNzaC1rZXktdjE": PEM,
    "AAAAC3NzaC1lZDI1NTE5AAAA": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA jane",
    "mF_9.B5f-4.1JqM": "Authorization: Bearer mF_9.B5f-4.1JqM",
    "abcdef0123456789xyz": "bearer abcdef0123456789xyz",
    "amFuZTpzZWNyZXQ=": "Basic amFuZTpzZWNyZXQ=",
    "sid-31d4d96e407aad42": "Cookie: sid-31d4d96e407aad42",
    "tok123abc456": "token tok123abc456 was revoked",
    "s3cr3t": "https://jane:s3cr3t@proxy.example.org:3128/x",
    "dbpass": "postgres://svc:dbpass@db/metrics",
    "/home/jane": "FileNotFoundError: /home/jane/weights.pt",
    "/Users/jane": "/Users/jane/.cache/torch",
    r"C:\Users\jane": r"cannot open C:\Users\jane\model.pt",
    "~jane": "~jane/models/x.pt",
    "/scratch/acme": "no space left in /scratch/acme/run7",
    "janedoe": "user=janedoe is over quota",
    "nodeseventeen": "hostname=nodeseventeen",
    "jane.doe": "mail jane.doe@example.org",
    "gpu17.cluster.example.com": "gpu17.cluster.example.com refused",
    "node17.lan": "node17.lan:29500",
    "192.168.17.4": "connect to 192.168.17.4:29500",
    "10.1.2.3": "tcp://10.1.2.3",
    "fe80::9eb6:d0ff:feee:1122": "peer fe80::9eb6:d0ff:feee:1122",
    "9c:b6:d0:ee:11:22": "link 9c:b6:d0:ee:11:22 is down",
    "9c-b6-d0-ee-11-22": "link 9c-b6-d0-ee-11-22 is down",
    "1650522012345": "board serial number 1650522012345",
    "1324921000007": "GPU serial 1324921000007",
    "6e0f3b60-2a4e": "GPU-6e0f3b60-2a4e-4c7c-9d5f-0a1b2c3d4e5f",
    "4f5e6d7c8b9a": "container 4f5e6d7c8b9a died",
    "acme-models": "s3://acme-models/x.pt",
}
"""What must not be published, each in a text that a run may hold."""
LEAST_SECRETS = 60
MESSAGES = (
    (
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB"
        " of which 1.03 GiB is free. This process has 78.05 GiB memory in use."
    ),
    "Expected all tensors to be on the same device, but found at least two, cuda:0 and cpu!",
    "mat1 and mat2 shapes cannot be multiplied (128x64 and 32x16)",
    "CUDA error: an illegal memory access was encountered",
    "CUDA error: no kernel image is available for execution on the device",
    "NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.cpp:1970, unhandled system error",
    "addmm_impl_cpu_ not implemented for 'Half'",
    "expected scalar type Float but found BFloat16",
    "The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 1",
    "Trying to backward through the graph a second time",
    (
        "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED. This error may appear if you passed in a"
        " non-contiguous input."
    ),
    "torch.compile with inductor failed: Triton 3.4.0 needs CUDA 12.4 or newer",
    "module 'torch' has no attribute 'xpu'",
    "the token count 50257 is out of range, 512 tokens per second",
    "Missing key(s) in state_dict: layer.weight; the key is not in the table",
    "HF_TOKEN is not set in the environment; the secret is missing; a password is required",
    "Basic operations need a bearer of the interface",
    "float8_e4m3fn is only supported on devices with compute capability >= 8.9",
    "timed out after 60 s in 3 of 10 launches at n = 4,096 (bound 1e-06)",
    "RuntimeError: Unsupported dtype torch.float64 on MPS, see https://pytorch.org/docs/stable/mps",
    "DataLoader worker (pid 12345) is killed by signal: Killed.",
    "world_size=2, rank=0, host=localhost, node=0",
)
VALUES = {
    "OMP_PLACES": ("cores", "{0:4}:2", "threads(8)", "{0,1},{2,3}"),
    "KMP_AFFINITY": ("granularity=fine,compact,1,0",),
    "PYTORCH_CUDA_ALLOC_CONF": (
        "expandable_segments:True,max_split_size_mb:128",
        "backend:cudaMallocAsync",
    ),
    "NCCL_ALGO": ("Ring,Tree",),
    "NCCL_SOCKET_IFNAME": ("eth0", "ib0"),
    "OMP_STACKSIZE": ("512k", "1G"),
    "CUDA_VISIBLE_DEVICES": ("0,1", ""),
    "TORCH_LOGS": ("+inductor",),
}


def free_texts(run: Run) -> list[str]:
    """Plant every secret where a valid run holds what somebody may have written."""
    texts = cycle(SECRETS.values())
    part, planted_texts = run.frobench, []

    def one() -> str:
        planted_texts.append(next(texts))
        return planted_texts[-1]

    for outcome in part.outcomes:
        if outcome.status != "passed":
            outcome.reason = f"RuntimeError: {one()} (and {one()})"
    for case in run.benchmarks:
        case.extra_info.title = one()
    for exercise in part.exercises.values():
        exercise.question, exercise.explanation = one(), f"{one()}; {one()}"
    software = part.environment.software
    software.variables |= {f"TORCH_X{number}": one() for number in range(20)}
    software.packages |= {"acme-models": "1.0"}
    part.environment.unknown["cpu.boost"] = one()
    part.settings = replace(part.settings, expression=one())
    run.machine_info |= {"operator": one()}
    run.commit_info.branch = one()
    return planted_texts


def test_there_are_secrets_enough() -> None:
    assert len(SECRETS) >= LEAST_SECRETS
    assert all(secret in text for secret, text in SECRETS.items())


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_hidden_in_whatever_it_is_said(secret: str) -> None:
    text = SECRETS[secret]
    for said in (text, f"RuntimeError: {text}", f"({text}), then more"):
        assert secret not in private.hide(said)
    assert stored_variables({"TORCH_X": text}) == {"TORCH_X": "set"}


@pytest.mark.parametrize("secret", SECRETS)
def test_a_value_that_is_a_secret_by_itself_is_not_stored(secret: str) -> None:
    assert stored_variables({"OMP_PLACES": secret}) == {"OMP_PLACES": "set"}


def test_the_command_writes_no_secret(tmp_path: Path) -> None:
    run = made(accelerators=1)
    assert set(SECRETS.values()) <= set(free_texts(run))
    (tmp_path / "run.json").write_bytes(store.encode(run))
    shown = frobench("share", "run.json", "-o", "shared", "--all", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    path = tmp_path / shown.stdout.splitlines()[-1]
    texts = [text for _, text in private.texts(json.loads(path.read_bytes()))]
    printed = shown.stdout.partition("What would be published")[2]
    for secret in SECRETS:
        assert [text for text in texts if secret in text] == []
        assert secret not in printed


@pytest.mark.parametrize("seed", range(3))
def test_no_place_of_the_schema_keeps_a_secret(seed: int) -> None:
    """Walk the types, so that a field that is added later is looked at too."""
    run = small()
    planted(run, seeded(tuple(SECRETS.values()), seed))

    def clean(where: str, text: str) -> str:
        return private.hide(text, version=private.is_version(where))

    shared: Any = private.rewritten(run, clean)
    found: Iterator[str] = (text for _, text in private.texts(shared))
    left = {secret for text in found for secret in SECRETS if secret in text}
    assert left == set()


@pytest.mark.parametrize("message", MESSAGES)
def test_an_ordinary_message_stays_readable(message: str) -> None:
    assert private.hide(message) == message


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in VALUES.items() for value in values]
)
def test_a_setting_of_a_library_is_stored(name: str, value: str) -> None:
    assert stored_variables({name: value}) == {name: value}


def test_a_value_of_an_older_file_is_shared_only_if_a_library_gave_it_a_meaning() -> None:
    run = made()
    variables = run.frobench.environment.software.variables
    variables |= {"OMP_PLACES": "swordfish", "KMP_AFFINITY": "compact", "OMP_DYNAMIC": "set"}
    shared, removed = publish.redact(run, ())
    kept = shared.frobench.environment.software.variables
    assert kept == variables | {"OMP_PLACES": "set"}
    assert "1 value that no library gave a meaning" in {one.what for one in removed}
    assert not is_harmless("swordfish")
