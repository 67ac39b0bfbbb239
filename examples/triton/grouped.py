#!/usr/bin/env python3
"""Compiles a grouped product in Triton, a B for each group of rows, and writes its manifest.

    pip install triton
    PYTHONPATH=../../python python3 grouped.py [--arch 90] [--out FOLDER]
    runner grouped-h200 --plugins ./triton_grouped.toml

No GPU is needed to compile.
"""

import argparse

import kzoo
import triton
import triton.language as tl


@triton.jit
def grouped(a, b, c, offsets, M, N, K, lda, ldb, ldc, alpha,
            BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # A block for each tile that a group could have; those past the end of its rows return.
    group = tl.program_id(0)
    first, end = tl.load(offsets + group), tl.load(offsets + group + 1)
    row = first + tl.program_id(1) * BM
    if row >= end:
        return
    m, n = row + tl.arange(0, BM), tl.program_id(2) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_tile = a + m[:, None].to(tl.int64) * lda + k[None, :]
    b_tile = b + (group.to(tl.int64) * N + n[None, :]) * ldb + k[:, None]  # layout nt
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a_tile, mask=(m[:, None] < end) & (start + k[None, :] < K), other=0.0)
        y = tl.load(b_tile, mask=(start + k[:, None] < K) & (n[None, :] < N), other=0.0)
        sums = tl.dot(x, y, sums)
        a_tile += BK
        b_tile += BK
    c_tile = c + m[:, None].to(tl.int64) * ldc + n[None, :]
    tl.store(c_tile, (sums * alpha).to(tl.bfloat16), mask=(m[:, None] < end) & (n[None, :] < N))


MULTIPLES_OF_16 = ["N", "K", "lda", "ldb", "ldc"]
TILE = {"BM": 128, "BN": 128, "BK": 64}


def compile_for(arch):
    return kzoo.triton_kernel(
        grouped, name="triton_grouped", types="bf16", groups=True, arch=arch, num_warps=8,
        num_stages=4, constants=TILE, grid=["groups", "ceil_div(M, BM)", "ceil_div(N, BN)"],
        multiples_of_16=MULTIPLES_OF_16, manifest={"layouts": "nt"})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--out", default=".")
    asked = parser.parse_args()
    print(compile_for(asked.arch).save(asked.out))


if __name__ == "__main__":
    main()
