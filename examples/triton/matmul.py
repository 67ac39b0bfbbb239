#!/usr/bin/env python3
"""Compiles a Triton kernel ahead of time, and writes the manifest with which the runner launches it.

    pip install triton
    PYTHONPATH=../../python python3 matmul.py [--arch 90] [--out FOLDER]
    runner quick --plugins ./triton_matmul.toml,cublas:bf16 --sizes 4096

No GPU is needed to compile. On a machine with one, kzoo.judge(compile_for(90)) judges it.
"""

import argparse

import kzoo
import triton
import triton.language as tl


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


# 16 bytes at a time are copied where rows are known to begin, and to end, at multiples of that.
MULTIPLES_OF_16 = ["N", "K", "lda", "ldb", "ldc"]
TILE = {"BM": 128, "BN": 256, "BK": 64, "GROUP": 8}


def compile_for(arch):
    return kzoo.triton_kernel(
        matmul, name="triton_matmul", types="bf16", arch=arch, num_warps=8, num_stages=4, constants=TILE,
        grid="ceil_div(M, BM) * ceil_div(N, BN)", multiples_of_16=MULTIPLES_OF_16)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", type=int, default=90, help="compute capability: 80, 90, ...")
    parser.add_argument("--out", default=".")
    options = parser.parse_args()
    print(compile_for(options.arch).save(options.out))


if __name__ == "__main__":
    main()
