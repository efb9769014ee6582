"""How a worker process speaks with the process that tunes (src/support/worker_process.h, src/autotune/worker_runner.h).

    python worker_channel.py triton_compile_worker.py        is a worker: the file's handlers() answer the messages

Imports nothing of the package, nor PyTorch: a worker that only compiles is loaded without them. A worker's own file finds this
one as ``worker_channel``.
"""

import importlib.util
import json
import mmap
import os
import socket
import struct
import sys

_SOCKET, _ARGUMENTS = 3, 4  # descriptors that a worker is started with


class Failed(Exception):
    """What became of a candidate, other than that it went well."""

    def __init__(self, outcome, reason):
        super().__init__(reason)
        self.outcome = outcome


def load(path, name):
    """The module that a file is, in sys.modules under this name: there Triton looks for what its kernels refer to."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def serve(handlers):
    """Answers messages until the other side has gone. ``handlers``: for what a message says to do, a function of the
    message, which gives the answer's entries, or raises."""
    channel = socket.socket(fileno=_SOCKET)
    _send(channel, {"ready": True})
    while (message := _receive(channel)) is not None:
        try:
            answer = handlers[message["do"]](message)
        except Failed as failure:
            answer = {"outcome": failure.outcome, "reason": str(failure)}
        except MemoryError as error:
            answer = {"outcome": "out_of_memory", "reason": f"MemoryError: {error}"}
        _send(channel, answer)


def arguments_file():
    """What the candidates are called with: a description, and the bytes of the tensors behind it."""
    memory = mmap.mmap(_ARGUMENTS, os.fstat(_ARGUMENTS).st_size, prot=mmap.PROT_READ)
    (length,) = struct.unpack_from("<Q", memory)
    return json.loads(memory[8 : 8 + length]), memory


def write_arguments_file(file, description, tensors):
    """``tensors``: buffers, which the description refers to by their offsets; see offsets_of()."""
    header = json.dumps(description).encode()
    os.pwrite(file, struct.pack("<Q", len(header)) + header, 0)
    for offset, tensor in tensors:
        view, written = memoryview(tensor).cast("B"), 0
        while written < len(view):
            written += os.pwrite(file, view[written : written + (1 << 30)], offset + written)


def first_line(error):
    """Of an exception: its type and the first line that says something."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"


def _send(channel, message):
    payload = json.dumps(message).encode()
    channel.sendall(struct.pack("<I", len(payload)) + payload)


def _receive(channel):
    header = _exactly(channel, 4)
    if header is None:
        return None
    payload = _exactly(channel, struct.unpack("<I", header)[0])
    return None if payload is None else json.loads(payload)


def _exactly(channel, count):
    parts = b""
    while len(parts) < count:
        part = channel.recv(count - len(parts))
        if not part:
            return None
        parts += part
    return parts


if __name__ == "__main__":
    here = os.path.dirname(os.path.realpath(__file__))
    # The neighbours of this file are modules of the package, and would hide others of their names.
    sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry or os.curdir) != here]
    sys.modules["worker_channel"] = sys.modules["__main__"]
    serve(load(os.path.join(here, sys.argv[1]), "worker").handlers(*arguments_file()))
