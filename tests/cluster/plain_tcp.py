# SPDX-License-Identifier: MIT
"""A plain transfer over TCP, which nothing of Frobench has a part in.

`python -m tests.cluster.plain_tcp ADDRESS` takes what others send, and answers when all is there.
"""

import socket
import sys
from time import perf_counter

PORT = 29500
CHUNK = 2**20


def send(address: str, size: int) -> float:
    """Send so many bytes; return the seconds until the other side says that it has them all."""
    with socket.create_connection((address, PORT)) as connection:
        connection.sendall(size.to_bytes(8, "big"))
        connection.recv(1)  # the other side is ready
        begun = perf_counter()
        connection.sendall(bytes(size))
        connection.recv(1)
        return perf_counter() - begun


def main() -> None:
    """Take transfers until this process is ended."""
    with socket.create_server((sys.argv[1], PORT)) as server:
        while True:
            connection, _ = server.accept()
            with connection:
                left, room = int.from_bytes(connection.recv(8), "big"), bytearray(CHUNK)
                connection.sendall(b".")
                while left:
                    left -= connection.recv_into(room, min(left, CHUNK))
                connection.sendall(b".")


if __name__ == "__main__":
    main()
