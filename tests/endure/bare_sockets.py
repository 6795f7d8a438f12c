"""A bare TCP connection that pushes bytes and pulls as many: what the runtime is compared with on the same link.

    python3 bare_sockets.py serve ADDRESS BYTES ROUNDS     prints its port
    python3 bare_sockets.py push ADDRESS PORT BYTES ROUNDS  prints the seconds of each round
    python3 bare_sockets.py echo ADDRESS                    prints its port, and answers until it is told to end
    python3 bare_sockets.py ask ADDRESS PORT SECONDS        prints the ms of each round trip of a small message"""
import socket
import sys
import time

SMALL = 64  # bytes, as a heartbeat
ASK_EVERY_S = 0.02


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


def echo(address):
    with socket.create_server((address, 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while data := connection.recv(SMALL):
                    connection.sendall(data)


def ask(address, port, seconds):
    with socket.create_connection((address, port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        until, buffer = time.monotonic() + seconds, bytearray(SMALL)
        while time.monotonic() < until:
            began = time.monotonic()
            connection.sendall(buffer)
            receive(connection, buffer)
            print(f"{(time.monotonic() - began) * 1e3:.2f}", flush=True)
            time.sleep(ASK_EVERY_S)


if __name__ == "__main__":
    {"serve": serve, "push": push, "echo": echo, "ask": ask}[sys.argv[1]](sys.argv[2], *map(int, sys.argv[3:]))
