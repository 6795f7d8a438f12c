"""A bare TCP connection that pushes bytes and pulls as many: what the runtime is compared with on the same link.

    python3 bare_sockets.py serve ADDRESS BYTES ROUNDS     prints its port
    python3 bare_sockets.py push ADDRESS PORT BYTES ROUNDS  prints the seconds of each round"""
import socket
import sys
import time


def receive(connection, into):
    view = memoryview(into)
    while view:
        got = connection.recv_into(view)
        if got == 0:
            raise ConnectionError("the other end is gone")
        view = view[got:]


def serve(address, size, rounds):
    with socket.create_server((address, 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        connection, _ = listener.accept()
        with connection:
            buffer = bytearray(size)
            for _ in range(rounds):
                receive(connection, buffer)
                connection.sendall(buffer)


def push(address, port, size, rounds):
    with socket.create_connection((address, port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        buffer = bytearray(size)
        for _ in range(rounds):
            began = time.monotonic()
            connection.sendall(buffer)
            receive(connection, buffer)
            print(f"{time.monotonic() - began:.4f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        push(sys.argv[2], *map(int, sys.argv[3:]))
