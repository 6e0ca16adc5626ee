# SPDX-License-Identifier: MIT
"""What nobody may publish: in errors that a benchmark raises, and in files of older versions."""

from collections.abc import Sequence
from itertools import cycle

from msgspec.structs import replace

from frobench.suite.stored.types import Run

PEM = "-----BEGIN RSA PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\nAAAAE\n-----END RSA PRIVATE KEY-----"
RAISED = {
    # what is secret: a text that holds it
    "hunter2": "RuntimeError: password is hunter2",
    "w4ndbkey": "WANDB_API_KEY w4ndbkey",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789": "git: ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "b3BlbnNzaC1rZXktdjE": PEM,
    "mF_9.B5f-4.1JqM": "Authorization: Bearer mF_9.B5f-4.1JqM",
    "janedoe": "user=janedoe is over quota",
    "gpu17.cluster.example.com": "gpu17.cluster.example.com refused",
    "1650522012345": "board serial number 1650522012345",
}
"""Secrets that look like any word, each in a text of an error: none of these texts is stored."""
PLACED = {
    "s3cr3t": "https://jane:s3cr3t@proxy.example.org:3128/x",
    "dbpass": "postgres://svc:dbpass@db/metrics",
    "/home/jane": "FileNotFoundError: /home/jane/weights.pt",
    "/Users/jane": "/Users/jane/.cache/torch",
    r"C:\Users\jane": r"cannot open C:\Users\jane\model.pt",
    "~jane": "~jane/models/x.pt",
    "/scratch/acme": "no space left in /scratch/acme/run7",
    "jane.doe": "mail jane.doe@example.org",
    "192.168.17.4": "connect to 192.168.17.4:29500",
    "10.1.2.3": "tcp://10.1.2.3",
    "fe80::9eb6:d0ff:feee:1122": "peer fe80::9eb6:d0ff:feee:1122",
    "9c:b6:d0:ee:11:22": "link 9c:b6:d0:ee:11:22 is down",
    "9c-b6-d0-ee-11-22": "link 9c-b6-d0-ee-11-22 is down",
    "6e0f3b60-2a4e": "GPU-6e0f3b60-2a4e-4c7c-9d5f-0a1b2c3d4e5f",
    "acme-models": "s3://acme-models/x.pt",
}
"""Paths and addresses, each in a text that a file of an older version may hold."""


def plant(run: Run, texts: Sequence[str]) -> set[str]:
    """Write texts in turn where a valid run holds what somebody may have written; return them."""
    part, rest = run.frobench, cycle(texts)
    planted: set[str] = set()

    def text() -> str:
        planted.add(written := next(rest))
        return written

    for outcome in part.outcomes:
        if outcome.status != "passed":
            outcome.reason = f"RuntimeError: {text()} (and {text()})"
    for case in run.benchmarks:
        case.extra_info.title = text()
    for exercise in part.exercises.values():
        exercise.question, exercise.explanation = text(), f"{text()}; {text()}"
    software = part.environment.software
    software.variables |= {f"TORCH_X{number}": text() for number in range(20)}
    software.packages |= {"acme-models": "1.0"}
    part.environment.unknown["cpu.boost"] = text()
    part.settings = replace(part.settings, expression=text())
    run.machine_info |= {"operator": text()}
    run.commit_info.branch = text()
    return planted
