"""Definitions of other benchmarks: what is read, what is refused, and a solution that is judged."""

import copy
import json
import os
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import kzoo

FILES = ROOT / "python" / "tests" / "definitions"
PROJECTION = json.loads((FILES / "projection.json").read_text())
SOLUTION = json.loads((FILES / "projection_solution.json").read_text())

_kept = tempfile.TemporaryDirectory(prefix="a b é ")
os.environ["XDG_CACHE_HOME"] = _kept.name
unittest.addModuleCleanup(_kept.cleanup)


def definition(
    returned: str,
    a: tuple[list[str], str] = (["M", "K"], "float16"),
    b: tuple[list[str], str] = (["N", "K"], "float16"),
    c: tuple[list[str], str] = (["M", "N"], "float16"),
    head: str = "def run(A, B):",
) -> dict[str, Any]:
    shapes = [{"shape": shape, "dtype": dtype} for shape, dtype in (a, b, c)]
    return {
        "name": "it",
        "axes": {axis: {"type": "var"} for axis in "GMNK"},
        "inputs": dict(zip("AB", shapes, strict=False)),
        "outputs": {"C": shapes[2]},
        "reference": f"import torch\n{head}\n    return {returned}",
    }


def problems(given: dict[str, Any], **axes: int) -> dict[str, Any]:
    [problem] = tomllib.loads(kzoo.read_definition(given).experiment([{"axes": axes}]))["problem"]
    return dict(problem)


class Definitions(unittest.TestCase):
    def test_flashinfer_bench(self) -> None:
        read = kzoo.read_definition(FILES / "projection.json")
        self.assertEqual((read.name, read.dtype, read.layout), ("projection_n20_k24", "f32", "nt"))
        made = tomllib.loads(read.experiment(FILES / "projection.jsonl"))
        self.assertEqual([one["sizes"] for one in made["problem"]], [["7x20x24"], ["33x20x24"]])

    def test_sol_execbench(self) -> None:
        read = kzoo.read_definition(FILES / "tokens.json")
        self.assertEqual((read.dtype, read.layout), ("bf16", "nn"))
        made = tomllib.loads(read.experiment(str(FILES / "tokens.jsonl")))
        self.assertEqual([one["sizes"] for one in made["problem"]], [["10x20x24"], ["64x20x24"]])
        self.assertEqual([one["batch"] for one in made["problem"]], [1, 1])

    def test_forms_of_a_product(self) -> None:
        k_m, k_n = (["K", "M"], "float16"), (["K", "N"], "float16")
        for returned, given, layout in (
            ("torch.mm(A, B.t())", {}, "nt"),
            ("A @ B.transpose(0, 1).contiguous()", {}, "nt"),
            ("torch.nn.functional.linear(A, B)", {}, "nt"),
            ("(A.float() @ B.float().T).half()", {}, "nt"),
            ("torch.matmul(A.T, B)", {"a": k_m, "b": k_n}, "tn"),
            ("A.mT @ B.transpose(-2, -1)", {"a": k_m}, "tt"),
            ("x.T @ y", {"a": k_m, "b": k_n, "head": "def run(x, y):"}, "tn"),
        ):
            with self.subTest(returned):
                made = definition(returned, **given)
                found = problems(made, M=3, N=5, K=7, G=1)
                self.assertEqual((found["layout"], found["sizes"]), (layout, ["3x5x7"]))

    def test_types(self) -> None:
        mk, nk, mn = ["M", "K"], ["N", "K"], ["M", "N"]
        for a, b, c, convert, expected in (
            ("float64", "float64", "float64", "", "f64"),
            ("bfloat16", "bfloat16", "float32", ".float()", "bf16->f32"),
            ("float8_e4m3fn", "float8_e5m2", "bfloat16", ".float()", "e4m3*e5m2->bf16"),
            ("int8", "int8", "int32", ".to(torch.int32)", "i8->i32"),
        ):
            with self.subTest(expected):
                made = definition(f"A{convert} @ B{convert}.T", (mk, a), (nk, b), (mn, c))
                self.assertEqual(kzoo.read_definition(made).dtype, expected)

    def test_a_batch_of_products(self) -> None:
        a, b, c = ((["G", *axes], "float16") for axes in ("MK", "NK", "MN"))
        found = problems(definition("A @ B.mT", a, b, c), G=4, M=3, N=5, K=7)
        self.assertEqual((found["batch"], found["sizes"]), (4, ["3x5x7"]))


    def test_an_epilogue(self) -> None:
        a, c = ((["G", *axes], "bfloat16") for axes in ("MK", "MN"))
        b = (["N", "K"], "bfloat16")
        made = definition("torch.nn.functional.gelu(x, approximate='tanh')", a, b, c)
        made["inputs"] |= {"R": {"shape": ["G", "M", "N"], "dtype": "bfloat16"}}
        head = "def run(A, B, R):\n    x = torch.matmul(A, B.t())\n    x = x + R"
        made["reference"] = made["reference"].replace("def run(A, B):", head)
        found = problems(made, G=2, M=3, N=5, K=7)
        self.assertEqual((found["epilogue"], found["sizes"]), ("residual + gelu_tanh", ["6x5x7"]))
        made["inputs"]["R"]["shape"] = ["N"]
        self.assertEqual(problems(made, G=2, M=3, N=5, K=7)["epilogue"], "bias + gelu_tanh")
        made["inputs"]["R"]["shape"] = ["M"]
        with self.assertRaisesRegex(kzoo.BadInput, r"R as \[3\] is added to C as \[2, 3, 5\]"):
            problems(made, G=2, M=3, N=5, K=7)


class Refused(unittest.TestCase):
    def refuses(self, words: str, given: dict[str, Any], **axes: int) -> None:
        with self.subTest(words), self.assertRaises(kzoo.BadInput) as caught:
            problems(given, **axes)
        self.assertIn(words, str(caught.exception))
        self.assertTrue(str(caught.exception).startswith("it: "), caught.exception)

    def test_what_a_reference_does_beside_a_product(self) -> None:
        for returned in (
            "torch.tanh(A @ B.T)", "A @ B.T + 1", "A @ A.T", "A", "torch.matmul(A, B.T, out=B)",
            "(A @ B.T).T", "A.to(torch.bfloat16) @ B.T", "A.float() @ B.T", "open('/etc/hosts')",
            "(A @ B.T).float().half()", "A.softmax(1) @ B.T", "A.transpose(0, 0) @ B.T",
        ):  # fmt: skip
            self.refuses("in its reference is more", definition(returned))
        self.refuses("torch.compile: ", definition("A @ B.T", head="@torch.compile\ndef run(A, B):"))
        self.refuses("run(A)", definition("A @ A", head="def run(A):"))
        self.refuses("no function 'run'", definition("A @ B.T", head="def go(A, B):"))
        self.refuses("no Python", definition("A @"))
        c = (["M", "N"], "float32")
        self.refuses("by one rounding", definition("A @ B.T", c=c))

    def test_shapes_and_types_that_do_not_fit(self) -> None:
        b = (["K", "N"], "float16")
        sizes = {"G": 1, "M": 3, "N": 5, "K": 7}
        self.refuses("A as [3, 7] times B as [5, 7]", definition("A @ B.T", b=b), **sizes)
        self.refuses("the type of A is none of", definition("A @ B.T", (["M", "K"], "bool")))
        self.refuses("A is no matrix", definition("A @ B.T", ([], "float16")))
        self.refuses("of 1 dimensions", definition("A @ B.T", (["K"], "float16")))
        self.refuses("the axis 'Q'", definition("A @ B.T", (["Q", "K"], "float16")), **sizes)
        self.refuses("the axis 'N' has no value", definition("A @ B.T"), G=1, M=3)
        self.refuses("'M' is True, no integer", definition("A @ B.T"), **sizes | {"M": True})
        more = definition("A @ B.T")
        more["inputs"]["bias"] = {"shape": ["N"], "dtype": "float16"}
        self.refuses("with 3 arguments", more)
        more["reference"] = "def run(A, B, bias):\n    return A @ B.T"
        self.refuses("the input bias is in no product", more)
        more["outputs"] |= {"D": more["outputs"]["C"]}
        self.refuses("two inputs and one output", more)
        self.refuses("it has no 'axes'", {"name": "it"})

    def test_what_is_in_another_format(self) -> None:
        whole = definition("A @ B.T")
        for key in ("axes", "inputs", "outputs"):
            given = whole | {key: dict.fromkeys(whole[key], 1)}
            self.refuses("not in the format", given, G=1, M=1, N=1, K=1)
        read = kzoo.read_definition(PROJECTION)
        words = "not in the format"
        workloads: list[Any] = [{}, [], {"workload": 1}, {"axes": [1]}]
        for workload in workloads:
            with self.subTest(workload), self.assertRaisesRegex(kzoo.BadInput, words):
                read.experiment([workload])
        spec = {"entry_point": "a.cu::f"}
        solutions: list[Any] = [{}, {"spec": []}, {"spec": spec, "sources": [1]}]
        for solution in solutions:
            with self.subTest(solution), self.assertRaisesRegex(kzoo.BadInput, words):
                kzoo.judge_solution(read, FILES / "projection.jsonl", solution)

    def test_files_that_are_none(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "it.json"
            for text in ("{", "[1]"):
                file.write_text(text)
                with self.assertRaisesRegex(kzoo.BadInput, "it.json: "):
                    kzoo.read_definition(file)
        read = kzoo.read_definition(PROJECTION)
        with self.assertRaisesRegex(kzoo.BadInput, "no workloads"):
            read.experiment([])
        with self.assertRaisesRegex(kzoo.BadInput, "another definition, 'x'"):
            read.experiment([{"definition": "x", "workload": {"axes": {"M": 1}}}])


class Solutions(unittest.TestCase):
    def judged(self, solution: dict[str, Any]) -> kzoo.Verdict:
        read = kzoo.read_definition(PROJECTION)
        workloads = FILES / "projection.jsonl"
        return kzoo.judge_solution(read, workloads, solution, tier="quick", device="cpu")

    def test_a_kernel_that_says_how_it_is_launched(self) -> None:
        verdict = self.judged(SOLUTION)
        self.assertTrue(verdict.passed, verdict)
        names = [one.problem["name"] for one in verdict.problems]
        self.assertEqual(names, ["7x20x24 f32 nt", "33x20x24 f32 nt"])
        wrong = copy.deepcopy(SOLUTION)
        kernel = wrong["sources"][1]
        kernel["content"] = kernel["content"].replace("B[col * K + k]", "B[k * N + col]")
        self.assertEqual(self.judged(wrong).status, "INCORRECT_NUMERICAL")

    def test_a_manifest_may_say_it(self) -> None:
        solution = copy.deepcopy(SOLUTION)
        kernel = solution["sources"][1]
        lines = kernel["content"].splitlines(keepends=True)
        kernel["content"] = "".join(line for line in lines if "kzoo:" not in line)
        manifest = """entry = "projection"
grid = ["ceil_div(M, 16)", "ceil_div(N, 16)"]
block = [16, 16]
layouts = "nt"
arguments = ["A", "B", "C", "M", "N", "K"]
"""
        solution["sources"].append({"path": "src/kernel.toml", "content": manifest})
        verdict = self.judged(solution)
        self.assertTrue(verdict.passed, verdict)

    def test_a_function_may_take_tensors_of_pytorch(self) -> None:
        solution = copy.deepcopy(SOLUTION)
        solution["spec"]["binding"] = "torch"
        kernel = solution["sources"][1]
        lines = kernel["content"].splitlines(keepends=True)
        kernel["content"] = "".join(line for line in lines if "kzoo:" not in line).replace(
            "void projection(", "void kernel("
        )
        kernel["content"] += """
void projection(torch::Tensor A, torch::Tensor B, torch::Tensor C) {
  const dim3 grid((A.size(0) + 15) / 16, (B.size(0) + 15) / 16), block(16, 16);
  kernel<<<grid, block>>>(A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), A.size(0),
                          B.size(0), A.size(1));
}
"""
        verdict = self.judged(solution)
        self.assertTrue(verdict.passed, verdict)

    def test_a_function_may_take_tensors_of_tvm_ffi(self) -> None:
        solution = copy.deepcopy(SOLUTION)
        kernel = solution["sources"][1]
        lines = kernel["content"].splitlines(keepends=True)
        kernel["content"] = "".join(line for line in lines if "kzoo:" not in line).replace(
            "void projection(", "void kernel("
        )
        solution["spec"]["entry_point"] = "main.cu::projection"
        main = """#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>
void projection(tvm::ffi::TensorView A, tvm::ffi::TensorView B, tvm::ffi::TensorView C);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(projection, projection);
"""
        kernel["content"] += """
void projection(tvm::ffi::TensorView A, tvm::ffi::TensorView B, tvm::ffi::TensorView C) {
  TVM_FFI_ICHECK_EQ(A.ndim(), 2) << "A is no matrix";
  if (A.dtype().code != kDLFloat || A.dtype().bits != 32) TVM_FFI_THROW(TypeError) << "f32";
  const auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(A.device().device_type, 0));
  const dim3 grid((A.size(0) + 15) / 16, (B.size(0) + 15) / 16), block(16, 16);
  kernel<<<grid, block, 0, stream>>>(static_cast<float*>(A.data_ptr()), static_cast<float*>(B.data_ptr()),
                          static_cast<float*>(C.data_ptr()), A.size(0), B.size(0), A.size(1));
}
"""
        solution["sources"].append({"path": "main.cu", "content": main})
        solution["spec"]["compile_options"] = {"cuda_cflags": ["-O3", "-std=c++17", "-DUSED=1"]}
        verdict = self.judged(solution)
        self.assertTrue(verdict.passed, verdict)
        read, workloads = kzoo.read_definition(PROJECTION), FILES / "projection.jsonl"
        [first, second] = kzoo.traces(read, workloads, solution, verdict)
        self.assertEqual(first["workload"]["axes"], {"M": 7})
        self.assertEqual(first["evaluation"]["status"], "PASSED")
        self.assertEqual(first["evaluation"]["performance"]["latency_ms"], 0.0)  # the simulator's
        self.assertEqual(second["solution"], solution["name"])

    def test_what_is_not_judged(self) -> None:
        python = changed(language="triton", entry_point="a.py::run")
        text = "import torch\ndef run(A, B):\n    return torch.matmul(A, B.T)\n"
        python["sources"].append({"path": "a.py", "content": text})
        cutlass = changed(languages=["cutlass"], binding="torch")
        for words, solution in (
            ("line 3: torch.matmul(A, B.T): PyTorch would compute it", python),
            ("its host code starts kernels of cutlass", cutlass),
        ):
            with self.subTest(words):
                verdict = self.judged(solution)
                self.assertEqual(verdict.status, "UNSUPPORTED")
                self.assertIn(words, verdict.reason)
                read, workloads = kzoo.read_definition(PROJECTION), FILES / "projection.jsonl"
                evaluation = kzoo.traces(read, workloads, solution, verdict)[0]["evaluation"]
                self.assertEqual(evaluation["status"], "RUNTIME_ERROR")
                self.assertIn(f"UNSUPPORTED: {verdict.reason}", evaluation["log"])

    def test_what_is_no_solution(self) -> None:
        outside = copy.deepcopy(SOLUTION)
        outside["sources"][0]["path"] = "../tile.h"
        for words, solution in (
            ("no 'other.cu'", changed(entry_point="other.cu::f")),
            ("'../tile.h' would lie outside", outside),
            ("compile_options has -ccbin", changed(compile_options={"cuda_cflags": ["-ccbin=x"]})),
            ("it solves 'x'", SOLUTION | {"definition": "x"}),
        ):
            with self.subTest(words), self.assertRaises(kzoo.BadInput) as caught:
                self.judged(solution)
            self.assertIn(words, str(caught.exception))


def changed(**spec: object) -> dict[str, Any]:
    made = copy.deepcopy(SOLUTION)
    made["spec"] |= spec
    return dict(made)


if __name__ == "__main__":
    unittest.main()
