// kzoo: arch=90a types=e4m3->bf16 layouts=nt precision=fp8
// kzoo: entry=fp8_block_scaled<128,128,4> grid=N/128,M/128 block=256 shared=132096
// kzoo: scale_block_a=1x128 scale_block_b=128x128 granularity=128,128,128 row_bytes=16
// kzoo: arguments=A,B,scale_a,scale_b,C,M,N,K

// A kernel as libraries of fp8 have them, which knows nothing of kernel-zoo: A and B with K along
// their rows, a scale for each 1 x 128 of A, stored as [K / 128][M], and for each 128 x 128 of B,
// as [N / 128][K / 128 rounded up to 4]. Two warpgroups, each with 64 rows.

#include <cuda_bf16.h>
#include <cstdint>

__device__ uint64_t descriptor(uint32_t address) {
  return uint64_t((address & 0x3ffff) >> 4) | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}

__device__ void wgmma_m64n128k32(float (&d)[64], uint64_t a, uint64_t b, int add) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,"
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,"
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,"
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63},"
      "%64, %65, p, 1, 1; }\n"
#define D(I) "+f"(d[I])
#define D4(I) D(I), D(I + 1), D(I + 2), D(I + 3)
#define D16(I) D4(I), D4(I + 4), D4(I + 8), D4(I + 12)
      : D16(0), D16(16), D16(32), D16(48)
      : "l"(a), "l"(b), "r"(add));
}

// 128 rows of 128 bytes, swizzled by 128 bytes: 16-byte chunk c of row r is at c ^ r % 8.
__device__ void copy_tile(uint32_t to, const uint8_t* from, size_t ld) {
  for (int i = threadIdx.x; i < 128 * 8; i += 256) {
    const int row = i / 8, chunk = i % 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + row * 128 +
                                                                   ((chunk ^ (row % 8)) * 16)),
                 "l"(from + row * ld + chunk * 16));
  }
}

template <int BM, int BN, int STAGES>
__global__ void __launch_bounds__(256)
    fp8_block_scaled(const uint8_t* A, const uint8_t* B, const float* scale_a, const float* scale_b,
                     __nv_bfloat16* C, int M, int N, int K) {
  extern __shared__ uint8_t shared[];
  const uint32_t base = (uint32_t(__cvta_generic_to_shared(shared)) + 1023) / 1024 * 1024;
  constexpr int kTile = 128 * 128, kStage = 2 * kTile;
  const int blocks = K / 128, wg = threadIdx.x / 128, t = threadIdx.x % 128;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int row = row0 + wg * 64 + t / 32 * 16 + t % 32 / 4;
  scale_b += size_t(blockIdx.x) * ((blocks + 3) / 4 * 4);
  const size_t ld_scale_a = (M + 3) / 4 * 4;
  const auto load = [&](int block) {
    if (block < blocks) {
      const uint32_t to = base + block % STAGES * kStage;
      copy_tile(to, A + size_t(row0) * K + block * 128, K);
      copy_tile(to + kTile, B + size_t(col0) * K + block * 128, K);
    }
    asm volatile("cp.async.commit_group;");
  };
  for (int i = 0; i < STAGES - 1; ++i) load(i);
  float sum[64] = {}, d[64];
  for (int block = 0; block < blocks; ++block) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const float sb = scale_b[block];
    const float upper = sb * scale_a[block * ld_scale_a + row];
    const float lower = sb * scale_a[block * ld_scale_a + row + 8];
    const uint32_t a = base + block % STAGES * kStage, b = a + kTile;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < 128; k += 32)
      wgmma_m64n128k32(d, descriptor(a + wg * 64 * 128 + k), descriptor(b + k), k > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    load(block + STAGES - 1);  // into the stage that all have read before the barrier
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < 64; ++i) {
      asm volatile("" : "+f"(d[i])::"memory");
      sum[i] += (i % 4 < 2 ? upper : lower) * d[i];
    }
  }
  for (int i = 0; i < 64; i += 2) {
    const int r = row + i % 4 / 2 * 8, c = col0 + i / 4 * 8 + t % 4 * 2;
    *reinterpret_cast<__nv_bfloat162*>(C + size_t(r) * N + c) =
        __floats2bfloat162_rn(sum[i], sum[i + 1]);
  }
}
