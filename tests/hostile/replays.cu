// Replays on a GPU, as native.cpp on the CPU. They count runs or compare addresses instead of
// reading numbers, which only the device sees.
#include "hostile.hpp"
#include "spin_kernel.hpp"

#include <cstddef>

namespace {

using hostile::gemm;
using hostile::honest;

// A copy of C in the plugin's own memory.
class kept_c {
 public:
  explicit kept_c(const kzoo_problem& p)
      : row_bytes_(std::size_t(p.n) * sizeof(float)), rows_(std::size_t(p.m)) {
    cudaMalloc(&data_, row_bytes_ * rows_);
  }
  kept_c(const kept_c&) = delete;
  kept_c& operator=(const kept_c&) = delete;
  ~kept_c() { cudaFree(data_); }

  void keep(const gemm& g, kzoo::stream_t stream) const {
    copy(data_, row_bytes_, g.c, std::size_t(g.ldc) * sizeof(float), stream);
  }
  void restore(const gemm& g, kzoo::stream_t stream) const {
    copy(g.c, std::size_t(g.ldc) * sizeof(float), data_, row_bytes_, stream);
  }

 private:
  void copy(float* to, std::size_t to_pitch, const float* from, std::size_t from_pitch,
            kzoo::stream_t stream) const {
    cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes_, rows_, cudaMemcpyDeviceToDevice,
                      stream);
  }
  float* data_ = nullptr;
  std::size_t row_bytes_, rows_;
};

// Makes a replay take longer than the roofline floor.
void wait(const gemm& g, kzoo::stream_t stream) {
  constexpr double kFlopPerNs = 20e3;  // a third of an H200's
  const double flop = 2.0 * double(g.m) * double(g.n) * double(g.k);
  hostile::spin_kernel<<<1, 1, 0, stream>>>(static_cast<long long>(flop / kFlopPerNs));
}

// Right in its first runs; later writes nothing.
template <bool kPadded>
struct skips_later : honest {
  void run(const gemm& g, kzoo::stream_t stream) const {
    constexpr int kRight = 6;
    if (++runs <= kRight) return honest::run(g, stream);
    if (kPadded) wait(g, stream);
  }
  mutable int runs = 0;
};

// Copies the result of its third run.
template <bool kPadded>
struct learns_late : honest {
  learns_late(const kzoo_problem& p, const kzoo_device&) : kept(p) {}
  void run(const gemm& g, kzoo::stream_t stream) const {
    constexpr int kThird = 3;
    if (++runs <= kThird) {
      honest::run(g, stream);
      return kept.keep(g, stream);
    }
    kept.restore(g, stream);
    if (kPadded) wait(g, stream);
  }
  kept_c kept;
  mutable int runs = 0;
};

// All instances share the first instance's result.
struct remembers_in_create : honest {
  remembers_in_create(const kzoo_problem& p, const kzoo_device& d) {
    static learns_late<true>& of_all = *new learns_late<true>(p, d);
    first = &of_all;
  }
  void run(const gemm& g, kzoo::stream_t stream) const { first->run(g, stream); }
  learns_late<true>* first;
};

// Replays only if C is not at its first address, as in end-to-end runs.
struct replays_elsewhere : honest {
  replays_elsewhere(const kzoo_problem& p, const kzoo_device&) : kept(p) {}
  void run(const gemm& g, kzoo::stream_t stream) const {
    if (c == nullptr) c = g.c;
    if (g.c == c) return honest::run(g, stream);
    if (elsewhere++ > 0) return kept.restore(g, stream);
    honest::run(g, stream);
    kept.keep(g, stream);
  }
  kept_c kept;
  mutable float* c = nullptr;
  mutable int elsewhere = 0;
};

// While C holds its result, computes every second time: without pauses C is not filled. The first
// launch decides for the second.
__global__ void decide_kernel(gemm g, int* state) {
  const bool is_poison = g.c[0] != g.c[0];
  state[0] = is_poison ? 0 : state[0] + 1;
}
__global__ void every_second_kernel(gemm g, const int* state) {
  if (state[0] % 2 == 0 && hostile::row() < g.m && hostile::col() < g.n)
    hostile::store_product(g, hostile::row(), hostile::col());
}
struct skips_in_batches : honest {
  skips_in_batches(const kzoo_problem&, const kzoo_device&) {
    cudaMalloc(&state, sizeof *state);
    cudaMemset(state, 0, sizeof *state);
  }
  ~skips_in_batches() { cudaFree(state); }
  void run(const gemm& g, kzoo::stream_t stream) const {
    decide_kernel<<<1, 1, 0, stream>>>(g, state);
    hostile::launch(every_second_kernel, g, stream, state);
  }
  int* state = nullptr;
};

}  // namespace

KZOO_PLUGIN("replays", "Keeps results on a GPU",
            kzoo::variant<skips_later<false>>("skips_later", "writes nothing after some runs"),
            kzoo::variant<skips_later<true>>("skips_later_padded", "and takes its time for that"),
            kzoo::variant<learns_late<false>>("learns_late", "computes in its first three runs"),
            kzoo::variant<learns_late<true>>("learns_late_padded", "and takes its time later"),
            kzoo::variant<remembers_in_create>("remembers_in_create", "all instances, three runs"),
            kzoo::variant<replays_elsewhere>("replays_elsewhere", "computes at one address"),
            kzoo::variant<skips_in_batches>("skips_in_batches", "computes every second time"));
