"""Problems of KernelBench and gpu-mode, and submissions in Python: what is read, refused and judged."""

import contextlib
import importlib.util
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import kzoo
from kzoo import _judge
from kzoo._device_code import request
from kzoo._submission import ExtensionCall, SubmissionReader, TritonCall
from kzoo._values import Unread

_kept = tempfile.TemporaryDirectory(prefix="a b é ")
os.environ["XDG_CACHE_HOME"] = _kept.name
unittest.addModuleCleanup(_kept.cleanup)

PROBLEM = """import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self{parameters}):
        super(Model, self).__init__()
{init}
    def forward(self, {inputs}):
        \"\"\"What it computes.\"\"\"
{forward}

M = 16 * 2
K = 24
N = 40

def get_inputs():
    return {given}

def get_init_inputs():
    return {initial}
"""
AB = "[torch.rand(M, K), torch.rand(K, N)]"

INLINE = '''import torch
from torch.utils.cpp_extension import load_inline

cuda = """
__global__ void kernel(const float* a, const float* b, const float* bias, float* c, int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = bias[col];
  for (int k = 0; k < K; ++k) sum += a[row * K + k] * b[col * K + k];
  c[row * N + col] = sum > 0 ? sum : 0;
}
torch::Tensor fused(torch::Tensor x, torch::Tensor w, torch::Tensor bias) {
  auto c = torch::empty({x.size(0), w.size(0)}, x.options());
  const dim3 grid((c.size(1) + 15) / 16, (c.size(0) + 15) / 16), block(16, 16);
  kernel<<<grid, block>>>(x.data_ptr<float>(), w.data_ptr<float>(), bias.data_ptr<float>(),
                          c.data_ptr<float>(), c.size(0), c.size(1), x.size(1));
  return c;
}
"""
ext = load_inline(name="fused", cpp_sources="torch::Tensor fused(torch::Tensor, torch::Tensor, torch::Tensor);",
                  cuda_sources=cuda, functions=["fused"])

class ModelNew(torch.nn.Module):
    def __init__(self, width, height):
        super().__init__()
        self.gemm = torch.nn.Linear(width, height)
        self.ext = ext

    def forward(self, x):
        return self.ext.fused(x.contiguous(), self.gemm.weight, self.gemm.bias)
'''

TRITON = """import torch
import triton
import triton.language as tl

GROUP = 4

def helper(x):
    return __import__("os").system(x)

@triton.jit
def first(pid, count):
    return pid // count, pid % count

@triton.autotune(configs=[triton.Config({"BM": 16, "BN": 32}, num_warps=2)], key=["M"])
@triton.jit
def gemm(a_ptr, b_ptr, c_ptr, M, N, K, sa, sb, sc, one, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr = 16):
    row, col = first(tl.program_id(0), tl.cdiv(N, BN))
    rows = row * BM + tl.arange(0, BM)[:, None]
    cols = col * BN + tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows * sa + ks[None, :] * one, mask=(rows < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + cols * sb + ks[:, None], mask=(cols < N) & (ks[:, None] < K), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows * sc + cols, acc.to(c_ptr.dtype.element_ty), mask=(rows < M) & (cols < N))

def run(A, B):
    assert A.is_cuda
    M, K = A.shape
    N = 40
    if B.shape[0] != N or A.dtype != B.dtype:
        raise ValueError("no")
    c = torch.empty((M, N), device=A.device, dtype=A.dtype)
    grid = lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)
    gemm[grid](A, B, c, M, N, K, A.stride(0), B.stride(0), c.stride(0), A.stride(1))
    return c
"""
NT = {
    "forward": "        return torch.matmul(A, B.T)",
    "given": "[torch.rand(M, K), torch.rand(N, K)]",
}


def problem_text(**parts: str) -> str:
    usual = {"parameters": "", "init": "", "inputs": "A, B", "given": AB, "initial": "[]"}
    return PROBLEM.format(**usual | {"forward": "        return torch.matmul(A, B)"} | parts)


class Base(unittest.TestCase):
    def setUp(self) -> None:
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = Path(kept.name)

    def file(self, text: str, name: str = "problem.py") -> Path:
        (self.folder / name).write_text(text)
        return self.folder / name

    def problem(self, **parts: str) -> kzoo.Problem:
        return kzoo.read_problem(self.file(problem_text(**parts)))

    def linear(self) -> kzoo.Problem:
        return self.problem(
            parameters=", width, height", inputs="x", given="[torch.rand(M, K)]", initial="[K, N]",
            init="        self.gemm = nn.Linear(width, height)",
            forward="        x = self.gemm(x)\n        return torch.relu(x)",
        )  # fmt: skip


class Problems(Base):
    def test_products_of_kernelbench(self) -> None:
        for forward, given, layout, size in (
            ("torch.matmul(A, B)", AB, "nn", (32, 40, 24, 1)),
            ("torch.matmul(A.T, B)", "[torch.rand(K, M), torch.rand(K, N)]", "tn", (32, 40, 24, 1)),
            ("A @ B.T", "[torch.rand(M, K), torch.rand(N, K)]", "nt", (32, 40, 24, 1)),
            (
                "torch.bmm(A, B)",
                "[torch.rand(3, M, K), torch.rand(3, K, N)]",
                "nn",
                (32, 40, 24, 3),
            ),
            (
                'torch.einsum("bijl,lk->bijk", A, B)',
                "[torch.rand(2, 3, M, K), torch.rand(K, N)]",
                "nn",
                (192, 40, 24, 1),
            ),
            (
                'torch.einsum("bik,bjk->bij", A, B)',
                "[torch.rand(2, M, K), torch.rand(2, N, K)]",
                "nt",
                (32, 40, 24, 2),
            ),
        ):
            with self.subTest(forward):
                read = self.problem(forward=f"        return {forward}", given=given)
                self.assertEqual((read.layout, read.sizes, read.dtype), (layout, (size,), "f32"))
        sized = kzoo.read_problem(self.file(problem_text()), sizes={"M": 7}, allow="tf32")
        self.assertIn('allow = ["tf32"]', sized.problems)
        self.assertEqual(sized.sizes, ((7, 40, 24, 1),))
        self.assertIn('sizes = ["7x40x24"]', sized.problems)

    def test_a_layer_with_an_activation(self) -> None:
        read = self.linear()
        self.assertEqual((read.epilogue, read.inputs, read.layout), ("bias + relu", ("A",), "nt"))

    def test_what_is_no_product(self) -> None:
        for forward, words in (
            ("torch.tril(A @ B)", "line 10: torch.tril(A @ B): no epilogue here has it"),
            ("A @ B / 2", "line 10: A @ B / 2"),
            ("open('/etc/passwd')", "it is no part of a product"),
            ("self.forward(A, B)", "functions are called too often"),
            ("A", "it returns no product"),
        ):
            with self.subTest(forward), self.assertRaises(kzoo.BadInput) as caught:
                self.problem(forward=f"        return {forward}")
            self.assertIn(words, str(caught.exception))

    @unittest.skipUnless(importlib.util.find_spec("yaml"), "PyYAML is not installed")
    def test_a_task_of_gpu_mode(self) -> None:
        self.file(
            """import torch
from utils import DeterministicContext

def generate_input(m: int, n: int, k: int, seed: int):
    gen = torch.Generator(device="cuda")
    a = torch.empty(m, k, dtype=torch.float16)
    a.uniform_(0, 1, generator=gen)
    b = torch.empty(k, n, dtype=torch.float16)
    return a, b, torch.empty(m, n, dtype=torch.float16)

def ref_kernel(data):
    with DeterministicContext():
        a, b, c = data
        c[...] = a @ b
        return c
""",
            "reference.py",
        )
        tests = 'tests:\n  - {"m": 64, "n": 32, "k": 16, "seed": 1}\nbenchmarks: []\n'
        read = kzoo.read_problem(self.file(tests, "task.yml"))
        self.assertEqual(
            (read.inputs, read.sizes, read.dtype), (("A", "B", "C"), ((64, 32, 16, 1),), "f16")
        )
        text = "def custom_kernel(data):\n    a, b, c = data\n    c[...] = a @ b\n    return c\n"
        verdict = kzoo.judge_submission(read, text, device="cpu")
        self.assertEqual(verdict.status, "UNSUPPORTED")
        self.assertIn("line 3: a @ b: PyTorch would compute it", verdict.reason)


class Reading(Base):
    def start(self, text: str, problem: kzoo.Problem, entry: str = "run") -> Any:
        return SubmissionReader(text, problem).read(entry, False)

    def test_a_kernel_of_triton(self) -> None:
        problem = self.problem(**NT)
        start = self.start(TRITON, problem)
        assert isinstance(start, TritonCall)
        self.assertEqual(start.grid, ["(ceil_div(M, 16) * 2)"])
        self.assertEqual(start.constants, {"BM": 16, "BN": 32, "BK": 16})
        self.assertEqual((start.options, start.note), ({"num_warps": 2}, ""))
        several = TRITON.replace("num_warps=2)]", "num_warps=2), triton.Config({})]")
        start = self.start(several, problem)
        self.assertEqual(start.constants["BN"], 32)
        self.assertEqual(
            start.note,
            "of 2 configurations of @triton.autotune, the first was judged: "
            "triton.Config({'BM': 16, 'BN': 32}, num_warps=2)",
        )
        asked = request(SubmissionReader(TRITON, problem), start, 90)
        self.assertEqual(asked["options"]["arguments"]["N"], "N")  # of all problems it is 40
        self.assertEqual(asked["options"]["multiples_of_16"], ["M"])
        self.assertEqual(asked["options"]["manifest"], {"layouts": "nt"})
        self.assertIn("@triton.jit\ndef first(", asked["text"])
        for left_out in ("helper", "torch", "def run", "autotune"):
            self.assertNotIn(left_out, asked["text"])
        self.assertEqual(asked["text"].split("\n")[14], TRITON.split("\n")[14])

    def test_a_function_of_load_inline(self) -> None:
        start = self.start(INLINE, self.linear(), "ModelNew")
        assert isinstance(start, ExtensionCall)
        self.assertEqual(start.function, "fused")
        self.assertNotIn("torch::Tensor, torch::Tensor, torch::Tensor)", start.source)

    def test_what_would_run_beside_the_clock(self) -> None:
        beside = {
            "    c = torch.empty": ("    c = torch.zeros((M, N))\n", "PyTorch would fill it"),
            "    assert A.is_cuda": ("    A = A.half()\n", "PyTorch would compute it"),
            "    M, K": (
                "    B = B.t().contiguous()\n    M, K = A.shape\n",
                "PyTorch would copy it",
            ),
            "    N = 40": ("    for i in range(3): pass\n", "such a statement is not read"),
            "    grid": ("    if A.requires_grad: N = 3\n", "which way it goes is not known"),
            "    gemm[grid]": (
                "    gemm[grid](A, B, c, M, N, K, 1, 1, 1, 1)\n" * 2,
                "a second kernel",
            ),
            "    return c": ("    return c + 1\n", "PyTorch would compute it"),
        }
        for before, (line, words) in beside.items():
            text = "\n".join(
                line + one if one.startswith(before) else one for one in TRITON.split("\n")
            )
            with self.subTest(words), self.assertRaisesRegex(Unread, words) as caught:
                self.start(text, self.problem(**NT))
            self.assertGreater(caught.exception.line, 20)

    def test_what_grows_without_end_is_left(self) -> None:
        twice = "    x = x * x\n"
        for text in (
            "    x = 3\n" + twice * 64, "    x = (1, 2)\n" + "    x = x + x\n" * 64,
            "    x = A.shape[0]\n" + "    x = x + x\n" * 64, "    x = [1, 2]\n" + "    x = [*x, *x]\n" * 64,
            "    run(A, B)\n    run(A, B)\n", "    x = 1 // 0\n", "    x = int((1, 2))\n",
            "    x = A.shape[9]\n",
        ):  # fmt: skip
            with self.subTest(text[:40]):
                verdict = kzoo.judge_submission(
                    self.problem(), f"def run(A, B):\n{text}    return A\n"
                )
                self.assertEqual(verdict.status, "UNSUPPORTED", verdict)

    def test_a_kernel_is_device_code_alone(self) -> None:
        problem = self.problem(**NT)
        for line in (
            "tl.core.os.system('x')", "helper('x')", "open('x')", "rows.__class__", "x = tl; x.os", "import os",
            "(lambda: 1)()", "getattr(tl, 'core')", "f'{rows}'", "__import__('os')", "tl._os",
        ):  # fmt: skip
            text = TRITON.replace("    acc = tl", f"    {line}\n    acc = tl")
            with self.subTest(line), self.assertRaises(Unread):
                request(SubmissionReader(text, problem), self.start(text, problem), 90)


class Judged(Base):
    def test_a_layer_by_load_inline(self) -> None:
        problem = self.linear()
        verdict = kzoo.judge_submission(problem, INLINE, tier="quick", device="cpu")
        self.assertTrue(verdict.passed, verdict)
        self.assertEqual(
            verdict.problems[0].problem["name"], '32x40x24 f32 nt epilogue="bias + relu"'
        )

    def test_the_command(self) -> None:
        problem = self.file(problem_text(**NT))
        python = self.file("def run(A, B):\n    return A @ B.T\n", "mine.py")
        words = ["--benchmark", str(problem), str(python), "--device", "cpu", "--json"]
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(_judge.main(words), 1)
        document = json.loads(out.getvalue())
        self.assertEqual((document["status"], document["check"]), ("UNSUPPORTED", "submission"))
        self.assertEqual(document["file"], str(python))
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(_judge.main(["--benchmark", str(python), str(python)]), 2)
        self.assertIn("it has no class 'Model'", err.getvalue())

    def test_a_compiler_that_cannot_be_asked_is_the_judges_fault(self) -> None:
        for code in (1, 6):  # before it has looked at the kernel
            says = f"[ $1 = --version ] && echo kernel-zoo 0 && exit; echo it is broken >&2; exit {code}"
            program = self.file(f"#!/bin/sh\n{says}\n", "program")
            program.chmod(0o700)
            with self.subTest(code), mock.patch.dict(os.environ, KZOO_RUNNER=str(program)):
                verdict = kzoo.judge_submission(self.problem(**NT), TRITON, device="cpu")
                self.assertEqual((verdict.status, verdict.reward()), ("JUDGE_ERROR", None))
                self.assertIn("it is broken", verdict.reason)

    def test_a_note_on_the_kernel_is_in_the_reason(self) -> None:
        kernel = kzoo.CompiledKernel("mine", b"no cubin", 'kernel = "mine.cubin"\n', "the first")
        verdict = kzoo.judge(kernel, problems=self.problem().problems, device="cpu")
        self.assertEqual(verdict.document["reason"], verdict.reason)
        self.assertTrue(verdict.reason.endswith("; the first"), verdict)

    @unittest.skipUnless(importlib.util.find_spec("triton"), "Triton is not installed")
    def test_a_kernel_of_triton(self) -> None:
        verdict = kzoo.judge_submission(self.problem(**NT), TRITON, tier="quick", device="cpu")
        self.assertIn("only one for cuda; judge it on a GPU", verdict.reason)
        self.assertEqual((verdict.status, verdict.reward()), ("JUDGE_ERROR", None))
        several = TRITON.replace("num_warps=2)]", "num_warps=2), triton.Config({})]")
        verdict = kzoo.judge_submission(self.problem(**NT), several, tier="quick", device="cpu")
        self.assertIn("--device cuda; of 2 configurations", verdict.reason)
        broken = several.replace("tl.zeros((BM, BN)", "tl.zeros((BM, K)")
        verdict = kzoo.judge_submission(self.problem(**NT), broken, tier="quick", device="cpu")
        self.assertEqual(verdict.status, "COMPILE_ERROR")
        self.assertIn("of 2 configurations", verdict.reason)

    @unittest.skipIf(importlib.util.find_spec("triton"), "Triton is installed")
    def test_without_triton_the_kernel_is_not_to_blame(self) -> None:
        verdict = kzoo.judge_submission(self.problem(**NT), TRITON, device="cpu")
        self.assertEqual((verdict.status, verdict.reward()), ("JUDGE_ERROR", None))
        self.assertIn("pip install triton", verdict.reason)


if __name__ == "__main__":
    unittest.main()
