// Invalid reads and writes: outside the matrices, to the inputs, of C when beta is 0.
#include "hostile.hpp"
#include "tf32.hpp"

namespace {

using hostile::gemm;
using hostile::honest;
using hostile::launch;
using hostile::per_element;
using hostile::store_product;

// Multiplies C by 0 when beta is 0: NaN if C held NaN.
struct reads_c : per_element<reads_c> {
  static __device__ void element(const gemm& g, int row, int col) {
    float& c = g.c[row * g.ldc + col];
    c = g.alpha * hostile::dot(g, row, col, g.k) + g.beta * c;
  }
};

// Loads a tile of A without a bounds check, and multiplies the excess by 0.
struct reads_outside : per_element<reads_outside> {
  static __device__ void element(const gemm& g, int row, int col) {
    float sum = 0;
    for (int i = 0; i <= g.k; ++i) sum += g.a_at(row, i) * (i < g.k ? g.b_at(i, col) : 0);
    g.store(row, col, sum);
  }
};

// Reads past the end of A and ignores the value: C is right, and only a sanitizer detects it.
struct reads_outside_unused : per_element<reads_outside_unused> {
  static __device__ void element(const gemm& g, int row, int col) {
    store_product(g, row, col);
    const volatile float* past = g.a + g.m * g.lda;
    if (row == 0 && col == 0) static_cast<void>(*past);
  }
};

// Stores a tile of C without a bounds check.
struct writes_outside : per_element<writes_outside> {
  static __device__ void element(const gemm& g, int row, int col) {
    store_product(g, row, col);
    if (row == 0 && col == 0) g.c[g.m * g.ldc] = 0;
  }
};

// Stores rows of a tile of 128, past the redzone of a small C.
struct writes_far : per_element<writes_far> {
  static __device__ void element(const gemm& g, int row, int col) {
    store_product(g, row, col);
    if (row == 0 && col == 0) g.c[(g.m + 99) * g.ldc] = 0;
  }
};

// Assumes zeros in unwritten shared memory, which holds only for the very first block.
__global__ void zeros_kernel(gemm g) {
  __shared__ float sums[16][16];
  if (hostile::row() >= g.m || hostile::col() >= g.n) return;
  float& sum = sums[threadIdx.y][threadIdx.x];
  for (int i = 0; i < g.k; ++i) sum += g.a_at(hostile::row(), i) * g.b_at(i, hostile::col());
  g.store(hostile::row(), hostile::col(), sum);
  sum = 0;
}
struct counts_on_zeros : honest {
  void run(const gemm& g, kzoo::stream_t stream) const { launch(zeros_kernel, g, stream); }
};

// Pads a tile of A in place.
struct writes_around_input : per_element<writes_around_input> {
  static __device__ void element(const gemm& g, int row, int col) {
    store_product(g, row, col);
    if (row == 0 && col == 0) const_cast<float*>(g.a)[g.m * g.lda] = 0;
  }
};

// Changes A after computing C, which is still right.
__global__ void change_kernel(gemm g, std::ptrdiff_t at) {
  if (hostile::row() == 0 && hostile::col() == 0) const_cast<float*>(g.a)[at] = 2;
}

// Uses an input for scratch data.
struct writes_input : honest {
  void run(const gemm& g, kzoo::stream_t stream) const {
    honest::run(g, stream);
    launch(change_kernel, g, stream, 0);
  }
};

// Changes A from the second call on: detected only by checking the inputs after timing.
struct writes_input_later : honest {
  void run(const gemm& g, kzoo::stream_t stream) const {
    honest::run(g, stream);
    if (++calls > 1) launch(change_kernel, g, stream, g.m * g.lda - 1);
  }
  mutable int calls = 0;
};

__global__ void round_kernel(gemm g) {
  const int i = hostile::row() * gridDim.x * blockDim.x + hostile::col();
  const int stride = gridDim.y * blockDim.y * gridDim.x * blockDim.x;
  for (int at = i; at < g.m * g.k; at += stride) {
    float& x = const_cast<float&>(g.a_at(at / g.k, at % g.k));
    x = hostile::to_tf32(x);
  }
}

// Rounds its inputs to TF32 in place, as a published kernel does. A check that then computes the
// expected result uses the rounded inputs too.
struct rounds_in_place : honest {
  void run(const gemm& g, kzoo::stream_t stream) const {
    launch(round_kernel, g, stream);
    honest::run(g, stream);
  }
};

__global__ void overrun_kernel(gemm g, float* scratch) {
  if (hostile::row() == 0 && hostile::col() < 16) scratch[g.n + hostile::col() - 15] = 0;
}

// Requests a workspace that is one element too small.
struct overruns_workspace : honest {
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device&) {
    return static_cast<std::size_t>(p.n) * sizeof(float);
  }
  void run(const gemm& g, const kzoo_arguments& arguments) const {
    const auto stream = static_cast<kzoo::stream_t>(arguments.stream);
    honest::run(g, stream);
    launch(overrun_kernel, g, stream, static_cast<float*>(arguments.workspace));
  }
};

}  // namespace

KZOO_PLUGIN("memory", "Reads and writes memory that it must not touch",
            kzoo::variant<reads_c>("reads_c", "reads C when beta is 0"),
            kzoo::variant<reads_outside>("reads_outside", "one element past each row of A"),
            kzoo::variant<reads_outside_unused>("reads_outside_unused", "past the end of A"),
            kzoo::variant<writes_outside>("writes_outside", "one element past the end of C"),
            kzoo::variant<writes_far>("writes_far", "a hundred rows past the end of C"),
            kzoo::variant<counts_on_zeros>("counts_on_zeros", "in shared memory"),
            kzoo::variant<writes_around_input>("writes_around_input", "past the end of A"),
            kzoo::variant<writes_input>("writes_input", "the first element of A"),
            kzoo::variant<writes_input_later>("writes_input_later", "A, from the second call on"),
            kzoo::variant<rounds_in_place>("rounds_in_place", "rounds A to TF32 in place"),
            kzoo::variant<overruns_workspace>("overruns_workspace", "one element past its end"),
            kzoo::variant<honest>("honest", "must pass"));
