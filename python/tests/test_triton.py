"""Triton's kernels: what Triton and the manifest are told; compiling, where Triton is installed."""

import importlib.util
import os
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "examples" / "triton")]

import kzoo
from kzoo._triton import Launch, _grid_of

PARAMETERS = ["a", "b", "c", "M", "lda", "alpha", "scratch", "tiles", "BK"]
ARGUMENTS = {"scratch": "workspace", "tiles": "ceil_div(K, BK):i64"}


def launch(
    parameters: list[str] = PARAMETERS,
    types: str = "e4m3*e5m2->bf16",
    arguments: dict[str, str] = ARGUMENTS,
    multiples_of_16: tuple[str, ...] = (),
) -> Launch:
    return Launch(parameters, types, {"BK": 64}, arguments, multiples_of_16)


class Launching(unittest.TestCase):
    def test_types_follow_from_what_the_parameters_get(self) -> None:
        expected = ["*fp8e4nv", "*fp8e5", "*bf16", "i32", "i32", "fp32", "*i8", "i64", "constexpr"]
        made = launch()
        self.assertEqual(made.signature, dict(zip(PARAMETERS, expected, strict=True)))
        self.assertEqual(
            list(made.words.values()),
            ["A", "B", "C", "M:i32", "lda:i32", "alpha:f32", "workspace", "ceil_div(K, 64):i64"],
        )
        self.assertEqual(launch(types="f64").signature["alpha"], "fp64")

    def test_names_of_the_tutorials_have_their_meaning(self) -> None:
        names = ["a_ptr", "b_ptr", "c_ptr", "M", "N", "K", "stride_am", "stride_ak", "stride_bk"]
        names += ["stride_bn", "stride_cm", "stride_cn", "BM"]
        made = Launch(names, "f16", {"BM": 64}, {}, ())
        words = ["A", "B", "C", "M:i32", "N:i32", "K:i32", "lda:i32", "ldb:i32", "ldc:i32"]
        self.assertEqual(list(made.words.values()), words)
        ones = {"stride_ak": 1, "stride_bn": 1, "stride_cn": 1}
        self.assertEqual(made.constants, {"BM": 64} | ones)
        self.assertEqual(made.signature["stride_cn"], "constexpr")
        made = Launch(names, "f16", {"BM": 64}, {}, (), layout="tt")
        self.assertEqual(made.words["stride_ak"], "lda:i32")
        self.assertEqual(made.words["stride_bn"], "ldb:i32")
        self.assertEqual(made.constants["stride_am"], 1)
        made = Launch(names, "f16", {"BM": 64}, {"stride_ak": "K", "stride_cn": 1}, ())
        self.assertEqual(made.words["stride_ak"], "K:i32")

    def test_a_grid_may_be_a_function_of_the_constants(self) -> None:
        def ceil_div(x: int, y: int) -> int:
            return (x + y - 1) // y

        M, N = 512, 256  # of some call; the problem's are meant
        constants = {"BM": 64, "BN": 32}
        grid = _grid_of(lambda meta: (ceil_div(M, meta["BM"]) * ceil_div(N, meta["BN"]),), constants)
        self.assertEqual(grid, ["((((M + 64) - 1) / 64) * (((N + 32) - 1) / 32))"])
        self.assertEqual(_grid_of(lambda meta: (2 * meta["K"], meta["BM"]), constants), ["(2 * K)", 64])
        with self.assertRaisesRegex(ValueError, "depend on whether"):
            _grid_of(lambda meta: 1 if meta["M"] - 1 else 2, constants)

    def test_operands_of_an_epilogue_are_arguments(self) -> None:
        names = ["a", "b", "bias", "scales", "c"]
        made = Launch(names, "bf16", {}, {"scales": "row_scale"}, (), "row_scale + bias + relu")
        self.assertEqual(made.signature["bias"], "*bf16")
        self.assertEqual(made.signature["scales"], "*fp32")
        self.assertEqual(list(made.words.values()), ["A", "B", "bias", "row_scale", "C"])
        made = Launch(["bias"], "f16", {}, {}, (), "bias:f32")
        self.assertEqual(made.signature["bias"], "*fp32")
        with self.assertRaisesRegex(ValueError, "what the parameter 'bias' gets"):
            Launch(["bias"], "f16", {}, {}, ())

    def test_scales_and_offsets_are_arguments_where_the_product_has_them(self) -> None:
        names = ["a", "b", "c", "scale_b", "offsets", "groups"]
        product = {"scale_block_b": "1x128", "groups": True}
        made = Launch(names, "bf16*i4->bf16", {}, {}, (), "", product)
        self.assertEqual(made.signature["b"], "*i8")
        self.assertEqual(made.signature["scale_b"], "*fp32")
        self.assertEqual(made.signature["offsets"], "*i32")
        self.assertEqual(made.words["groups"], "groups:i32")
        with self.assertRaisesRegex(ValueError, "what the parameter 'scale_b' gets"):
            Launch(["scale_b"], "bf16", {}, {}, ())

    def test_what_triton_may_rely_on_is_asked_of_the_problem(self) -> None:
        made = launch()
        self.assertEqual((made.aligned, made.row_bytes), (["a", "b", "c"], 1))
        made = launch(types="f16", multiples_of_16=("M", "lda"))
        self.assertEqual(made.aligned, ["a", "b", "c", "M", "lda"])
        self.assertEqual(made.granularity, {"M": 16, "N": 1, "K": 1})
        self.assertEqual(made.row_bytes, 32)

    def test_what_does_not_fit_is_refused(self) -> None:
        for words, settings in (
            ("what the parameter 'x' gets", {"parameters": [*PARAMETERS, "x"]}),
            ("no parameter 'scratch'", {"parameters": ["a", "b", "c", "BK"]}),
            ("'f33' in types", {"types": "f33"}),
            ("'i33' in 'N:i33'", {"arguments": ARGUMENTS | {"M": "N:i33"}}),
            ("'alpha' gets 'alpha'", {"multiples_of_16": ("alpha",)}),
        ):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                launch(**settings)

    def test_it_is_judged_by_the_program(self) -> None:
        kernel = kzoo.CompiledKernel("mine", b"no cubin", 'kernel = "mine.cubin"\nentry = 1\n')
        with self.assertRaisesRegex(kzoo.BadInput, "mine.toml:2:9: .*entry"):
            kzoo.run("quick", plugins=[kernel], device="cpu", sizes=[16])

    def test_without_triton_it_says_so(self) -> None:
        no_triton = mock.patch.dict(sys.modules, {"triton": None})
        with no_triton, self.assertRaisesRegex(kzoo.Error, "pip install triton"):
            kzoo.triton_kernel(None, grid=1)


@unittest.skipUnless(importlib.util.find_spec("triton"), "Triton is not installed")
class Compiling(unittest.TestCase):
    def setUp(self) -> None:
        kept = tempfile.TemporaryDirectory(prefix="a b é ")
        self.addCleanup(kept.cleanup)
        os.environ["TRITON_CACHE_DIR"] = kept.name

    def test_the_example_compiles_without_a_gpu(self) -> None:
        import matmul

        kernel = matmul.compile_for(80)
        self.assertTrue(kernel.code.startswith(b"\x7fELF"))
        manifest = tomllib.loads(kernel.manifest)
        self.assertEqual(manifest["entry"], "matmul")
        self.assertEqual(manifest["grid"], ["ceil_div(M, 128) * ceil_div(N, 256)"])
        self.assertEqual((manifest["block"], manifest["compute_capability"]), (256, 80))
        self.assertEqual((manifest["granularity"], manifest["row_bytes"]), ([1, 16, 16], 32))
        # Its own parameters, and two for Triton's scratch memory.
        self.assertEqual(len(manifest["arguments"]), 13)

    def test_constants_without_values_are_named(self) -> None:
        import matmul

        with self.assertRaisesRegex(ValueError, "'BM' has no value"):
            kzoo.triton_kernel(matmul.matmul, grid=1, types="bf16")
        with self.assertRaisesRegex(TypeError, "@triton.jit"):
            kzoo.triton_kernel(launch, grid=1)


if __name__ == "__main__":
    unittest.main()
