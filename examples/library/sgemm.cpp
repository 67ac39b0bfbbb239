// C = A * B by a kernel of the zoo, with row-major matrices, on the device that is named.

#include <kzoo/kzoo.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

#ifdef HAS_CUDA
#include <cuda_runtime_api.h>
#endif

namespace {

constexpr int kM = 64, kN = 96, kK = 128;

// Numbers that both the program and the device reach.
float* allocate(int count, bool on_gpu) {
  void* memory = nullptr;
#ifdef HAS_CUDA
  if (on_gpu) cudaMallocManaged(&memory, count * sizeof(float));
#endif
  if (!on_gpu) memory = std::malloc(count * sizeof(float));
  if (memory == nullptr) throw kzoo::error(KZOO_OUT_OF_MEMORY, "no memory for a matrix");
  return static_cast<float*>(memory);
}

void multiply(bool on_gpu) {
  const kzoo::handle zoo({.device = on_gpu ? KZOO_CUDA : KZOO_CPU});
  float* const a = allocate(kM * kK, on_gpu);
  float* const b = allocate(kK * kN, on_gpu);
  float* const c = allocate(kM * kN, on_gpu);
  for (int i = 0; i < kM * kK; ++i) a[i] = static_cast<float>(i % 7);
  for (int i = 0; i < kK * kN; ++i) b[i] = static_cast<float>(i % 5);
  zoo.sgemm_row_major(KZOO_OP_N, KZOO_OP_N, kM, kN, kK, 1, a, kK, b, kN, 0, c, kN);
#ifdef HAS_CUDA
  if (on_gpu) cudaDeviceSynchronize();
#endif
  float expected = 0;
  for (int k = 0; k < kK; ++k) expected += a[kK + k] * b[k * kN + 2];
  std::printf("%s: C[1][2] is %g, and should be %g\n", kzoo_last_kernel(), c[kN + 2], expected);
  if (c[kN + 2] != expected) std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    multiply(argc > 1 && std::string(argv[1]) == "cuda");
  } catch (const kzoo::error& e) {
    std::fprintf(stderr, "%s: %s\n", kzoo_status_name(e.status), e.what());
    return 1;
  }
}
