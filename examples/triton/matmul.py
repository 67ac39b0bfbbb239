#!/usr/bin/env python3
"""Compiles a Triton kernel ahead of time, and writes the manifest with which the runner launches it.

    pip install triton
    python3 matmul.py [--arch 90] [--out FOLDER]
    runner quick --plugins ./triton_matmul.toml,cublas:bf16 --sizes 4096

No GPU is needed to compile.
"""

import argparse
import pathlib

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def matmul(a, b, c, M, N, K, lda, ldb, ldc, alpha, beta,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    # Blocks in groups of GROUP rows of tiles, so that those that run together share tiles in L2.
    pid = tl.program_id(0)
    rows, cols = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * cols) * GROUP
    height = min(rows - first, GROUP)
    row = (first + pid % (GROUP * cols) % height) * BM
    col = (pid % (GROUP * cols) // height) * BN

    m, n, k = row + tl.arange(0, BM), col + tl.arange(0, BN), tl.arange(0, BK)
    a_tile = a + m[:, None].to(tl.int64) * lda + k[None, :]
    b_tile = b + k[:, None].to(tl.int64) * ldb + n[None, :]
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a_tile, mask=(m[:, None] < M) & (start + k[None, :] < K), other=0.0)
        y = tl.load(b_tile, mask=(start + k[:, None] < K) & (n[None, :] < N), other=0.0)
        sums = tl.dot(x, y, sums)
        a_tile += BK
        b_tile += BK * ldb.to(tl.int64)

    c_tile = c + m[:, None].to(tl.int64) * ldc + n[None, :]
    inside = (m[:, None] < M) & (n[None, :] < N)
    result = sums * alpha
    if beta != 0.0:
        result += beta * tl.load(c_tile, mask=inside, other=0.0).to(tl.float32)
    tl.store(c_tile, result.to(tl.bfloat16), mask=inside)


# Parameters in their order, with Triton's types, and what the manifest gives for each. A divisibility
# by 16 lets Triton copy 16 bytes at a time; the granularity below makes it true.
PARAMETERS = {
    "a": ("*bf16", "A"), "b": ("*bf16", "B"), "c": ("*bf16", "C"),
    "M": ("i32", "M"), "N": ("i32", "N"), "K": ("i32", "K"),
    "lda": ("i32", "lda"), "ldb": ("i32", "ldb"), "ldc": ("i32", "ldc"),
    "alpha": ("fp32", "alpha:f32"), "beta": ("fp32", "beta:f32"),
}
DIVISIBLE = ["a", "b", "c", "N", "K", "lda", "ldb", "ldc"]
TILE = {"BM": 128, "BN": 256, "BK": 64, "GROUP": 8}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", type=int, default=90, help="compute capability: 80, 90, ...")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()

    signature = {name: kind for name, (kind, _) in PARAMETERS.items()}
    signature |= {name: "constexpr" for name in TILE}
    names = list(signature)
    source = ASTSource(
        fn=matmul, signature=signature,
        constexprs={(names.index(name),): value for name, value in TILE.items()},
        attrs={(names.index(name),): [["tt.divisibility", 16]] for name in DIVISIBLE})
    compiled = triton.compile(source, target=GPUTarget("cuda", options.arch, 32),
                              options={"num_warps": 8, "num_stages": 4, "enable_fp_fusion": True})
    meta = compiled.metadata

    # After its own parameters, Triton gives a kernel two pointers to scratch memory.
    scratch = ["workspace" if meta.global_scratch_size else "null", "null"]
    if meta.profile_scratch_size:
        raise SystemExit("kernels that profile themselves cannot be launched by a manifest")
    blocks = f"ceil_div(M, {TILE['BM']}) * ceil_div(N, {TILE['BN']})"
    arguments = [given for _, given in PARAMETERS.values()] + scratch
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "triton_matmul.cubin").write_bytes(compiled.asm["cubin"])
    (options.out / "triton_matmul.toml").write_text(f"""\
kernel = "triton_matmul.cubin"
entry = "{meta.name}"
summary = "Triton {triton.__version__}, tiles of {TILE['BM']} x {TILE['BN']} x {TILE['BK']}"
types = "bf16"
compute_capability = {options.arch}
granularity = [1, 16, 16]
row_bytes = 32
grid = "{blocks}"
block = {meta.num_warps * 32}
cluster = {meta.num_ctas}
shared = {meta.shared}
workspace = "{meta.global_scratch_size} * ({blocks})"
arguments = {arguments}
""")


if __name__ == "__main__":
    main()
