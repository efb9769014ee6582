"""The processes that compile and measure a GPU's candidates, without a GPU: compiling needs none, and what is measured runs
under Triton's interpreter. Faults are in the candidates' text. What becomes of a worker that ends or hangs is tested in
tests/unit/autotune/worker_runner_test.cpp."""

import os
import signal
import socket
import subprocess
import sys
import textwrap

import pytest
import torch

import tilewright
from tilewright import worker_channel
from tilewright.gpu_tuning import Workers

PACKAGE = os.path.dirname(tilewright.__file__)
SOURCE = textwrap.dedent("""
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def scale_kernel(x_ptr, out_ptr, factor):
        offsets = tl.program_id(0) * 16 + tl.arange(0, 16)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * factor)

    def scale(x, out, factor):
        again = torch.empty((64,), dtype=torch.float32, device=x.device)
        scale_kernel[(4,)](x, out, factor, num_warps=1)
        scale_kernel[(4,)](x, again, factor, num_warps=1)
        return again
""")


class Worker:
    def __init__(self, command, environment, file):
        ours, theirs = socket.socketpair()
        high = [os.dup2(theirs.fileno(), 70), os.dup2(file, 71)]

        def give_descriptors():
            for i, descriptor in enumerate(high):
                os.dup2(descriptor, 3 + i)

        self.process = subprocess.Popen(command, env={**os.environ, **environment}, preexec_fn=give_descriptors, close_fds=False)
        for descriptor in high:
            os.close(descriptor)
        theirs.close()
        self.channel = ours
        assert self.answer() == {"ready": True}

    def answer(self):
        """None where the worker has ended."""
        try:
            return worker_channel._receive(self.channel)
        except ConnectionError:
            return None

    def ask(self, what, folder, **more):
        worker_channel._send(self.channel, {"do": what, "folder": str(folder), **more})
        return self.answer()

    def close(self):
        self.channel.close()
        self.process.wait()


def environment(entries):
    return dict(entry.split("=", 1) for entry in entries)


@pytest.fixture(scope="module")
def arguments():
    return [torch.arange(64.0), torch.zeros(64), 2.0]


@pytest.fixture(scope="module")
def workers(arguments):
    made = Workers("scale", arguments, [1])
    yield made
    made.close()


@pytest.fixture(scope="module")
def candidate(tmp_path_factory):
    """A folder with this text as a candidate."""

    def write(text):
        folder = tmp_path_factory.mktemp("candidate")
        (folder / "kernel.py").write_text(text)
        return folder

    return write


#
# Compiling
#


@pytest.fixture
def compiler(workers, tmp_path_factory):
    cache = tmp_path_factory.mktemp("triton")
    made = Worker(workers.compiler, {**environment(workers.compiler_environment), "TRITON_CACHE_DIR": str(cache)}, workers.file)
    made.cache = cache
    yield made
    made.close()


def test_candidates_are_compiled_without_a_gpu(compiler, candidate):
    assert compiler.ask("compile", candidate(SOURCE)) == {"outcome": "compiled"}
    assert list(compiler.cache.glob("*/scale_kernel.cubin"))


@pytest.mark.parametrize("text, outcome, reason", [
    (SOURCE.replace("tl.program_id(0)", "tl.no_such_function(0)"), "compile_failed", "no_such_function"),
    ("raise ValueError('first line\\nlast line')", "compile_failed", "ValueError: last line"),
    ("raise ValueError('ptxas a.ptx, line 7; error   : too much\\nptxas fatal   : aborted')", "compile_failed", "error   : too much"),
    ("raise ValueError('ptxas fatal   : no such thing\\ncommand')", "compile_failed", "no such thing"),
    ("memory = bytearray(1 << 62)", "out_of_memory", "MemoryError"),
])
def test_what_does_not_compile_costs_the_candidate(compiler, candidate, text, outcome, reason):
    answer = compiler.ask("compile", candidate(text))
    assert answer["outcome"] == outcome and reason in answer["reason"]
    assert compiler.ask("compile", candidate(SOURCE)) == {"outcome": "compiled"}


def test_a_candidate_that_crashes_takes_only_its_worker(compiler, candidate):
    assert compiler.ask("compile", candidate("import os\nos.abort()")) is None
    assert compiler.process.wait() == -signal.SIGABRT


def test_what_needs_more_shared_memory_than_there_is_does_not_compile(workers, candidate, arguments, monkeypatch):
    monkeypatch.setattr("tilewright.gpu_tuning.gpu_of",
                        lambda device: {"name": "small", "capability": 90, "multiprocessors": 1, "shared_bytes": 64})
    small = Workers("scale", arguments, [1])
    compiler = Worker(small.compiler, environment(small.compiler_environment), small.file)
    answer = compiler.ask("compile", candidate(SOURCE.replace(" * factor", " * tl.sum(tl.load(x_ptr + tl.arange(0, 1024)), axis=0)")
                                               .replace("num_warps=1", "num_warps=32")))
    assert answer["outcome"] == "compile_failed" and "bytes of shared memory, where 64 are the most" in answer["reason"]
    compiler.close()
    small.close()


#
# Measuring
#


@pytest.fixture(scope="module")
def measurer(workers, candidate):
    made = Worker(workers.measurer, {**environment(workers.environment), "TRITON_INTERPRET": "1"}, workers.file)
    assert made.ask("baseline", candidate(SOURCE)) == {"outcome": "measured"}
    yield made
    made.close()


def test_a_right_candidate_is_measured(measurer, candidate):
    folder = candidate(SOURCE)
    for _ in range(2):  # from the same arguments, though it writes to one
        answer = measurer.ask("measure", folder, best=None)
        assert answer["outcome"] == "measured" and answer["microseconds"] > 0
    assert measurer.ask("measure_again", folder)["microseconds"] > 0


@pytest.mark.parametrize("fault, outcome, reason", [
    ("x.mul_(0)", "wrong_result", "differs from the default config's result by"),
    ("x[3] = float('nan')", "wrong_result", "is not finite where"),
    ("raise ValueError('boom')", "run_failed", "ValueError: boom"),
    ("raise RuntimeError('CUDA error: an illegal memory access was encountered')", "poisoned", "an illegal memory access"),
    ("raise torch.OutOfMemoryError('CUDA out of memory')", "out_of_memory", "CUDA out of memory"),
])
def test_what_goes_wrong_is_told_by_its_kind(measurer, candidate, fault, outcome, reason):
    text = SOURCE.replace("def scale(x, out, factor):", f"def scale(x, out, factor):\n    x = x.clone()\n    {fault}")
    answer = measurer.ask("measure", candidate(text), best=None)
    assert answer["outcome"] == outcome and reason in answer["reason"]


def test_arguments_keep_their_layout(monkeypatch):
    base = torch.arange(200.0)
    given = [base[3:].as_strided((4, 5), (1, 10)), base.to(torch.bfloat16)[1:8], torch.empty(0, 3), 7, base[:1].expand(9)]
    made = Workers("f", given, [])
    description, memory = _read(made.file)
    measurer = _measurer_class(monkeypatch)(description, memory)
    for one, other in zip(measurer._arguments, given):
        if isinstance(other, torch.Tensor):
            assert one.stride() == other.stride() and one.data_ptr() % 16 == other.data_ptr() % 16
            assert torch.equal(one, other)
        else:
            assert one == other
    made.close()


def _read(file):
    import json
    import mmap
    import struct

    memory = mmap.mmap(file, os.fstat(file).st_size, prot=mmap.PROT_READ)
    (length,) = struct.unpack_from("<Q", memory)
    return json.loads(memory[8 : 8 + length]), memory


def _measurer_class(monkeypatch):
    monkeypatch.setitem(sys.modules, "worker_channel", worker_channel)
    return worker_channel.load(os.path.join(PACKAGE, "triton_measure_worker.py"), "measure_worker").Measurer
