// Grouped GEMM: right for a single B, wrong for a B per group.
#include "hostile.hpp"

#include <algorithm>

namespace {

using grouped = kzoo::grouped_gemm<float>;

__device__ int group_of(const grouped& g, int row) {
  int group = 0;
  while (g.offsets[group + 1] <= row) ++group;
  return group;
}

template <class Trick>
__global__ void grouped_kernel(grouped g) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.all.m || col >= g.all.n || !Trick::stores(g, row)) return;
  kzoo::gemm<float> of_row = g.all;
  of_row.b += Trick::group(g, row) * g.stride_b;
  hostile::store_product(of_row, row, col);
}

// A variant whose misbehaviour is in group(g, row), the index of the row's B.
template <class Trick>
struct grouped_by {
  static constexpr bool groups = true;
  using grid = kzoo::tile_grid<16, 16>;
  void run(const grouped& g, kzoo::stream_t stream) const { launch(g, stream); }
  static __device__ bool stores(const grouped&, int) { return true; }

 protected:
  static void launch(const grouped& g, kzoo::stream_t stream) {
    kzoo::launch({.grid = dim3(kzoo::ceil_div(g.all.n, 16), kzoo::ceil_div(g.all.m, 16)),
                  .block = dim3(16, 16),
                  .stream = stream},
                 grouped_kernel<Trick>, g);
  }
};

struct honest : grouped_by<honest> {
  static __device__ int group(const grouped& g, int row) { return group_of(g, row); }
};

struct first_b : grouped_by<first_b> {
  static __device__ int group(const grouped&, int) { return 0; }
};

// Has a table of 64 groups; later groups use its last B.
struct most_64 : grouped_by<most_64> {
  static __device__ int group(const grouped& g, int row) {
    const int of_row = group_of(g, row);
    return of_row < 64 ? of_row : 63;
  }
};

struct next_b : grouped_by<next_b> {
  static __device__ int group(const grouped& g, int row) {
    return (group_of(g, row) + 1) % g.count;
  }
};

// Assumes groups of equal size.
struct even_split : grouped_by<even_split> {
  static __device__ int group(const grouped& g, int row) { return row * g.count / g.all.m; }
};

struct drops_last_row : grouped_by<drops_last_row> {
  static __device__ int group(const grouped& g, int row) { return group_of(g, row); }
  static __device__ bool stores(const grouped& g, int row) {
    return row + 1 < g.offsets[group_of(g, row) + 1];
  }
};

// Keeps the offsets of the first call, like a schedule made once.
struct keeps_offsets : grouped_by<keeps_offsets> {
  static __device__ int group(const grouped& g, int row) { return group_of(g, row); }

  void run(const grouped& g, kzoo::stream_t stream) const {
    if (kept == nullptr) keep(g, stream);
    grouped other = g;
    other.offsets = kept;
    launch(other, stream);
  }

 private:
  void keep(const grouped& g, [[maybe_unused]] kzoo::stream_t stream) const {
    kept = hostile::never_freed<int>(g.count + 1);
#if KZOO_TARGET_DEVICE == KZOO_CUDA
    cudaMemcpyAsync(kept, g.offsets, sizeof(int) * static_cast<std::size_t>(g.count + 1),
                    cudaMemcpyDeviceToDevice, stream);
#else
    std::copy(g.offsets, g.offsets + g.count + 1, kept);
#endif
  }
  mutable int* kept = nullptr;
};

// Keeps the address of the first call's B.
struct keeps_b : grouped_by<keeps_b> {
  static __device__ int group(const grouped& g, int row) { return group_of(g, row); }

  void run(const grouped& g, kzoo::stream_t stream) const {
    if (kept == nullptr) kept = g.all.b;
    grouped other = g;
    other.all.b = kept;
    launch(other, stream);
  }

 private:
  mutable const float* kept = nullptr;
};

}  // namespace

KZOO_PLUGIN("groups", "Right for one B, wrong where each group of rows has its own",
            kzoo::variant<honest>("honest", "right"),
            kzoo::variant<first_b>("first_b", "the first group's B for all"),
            kzoo::variant<most_64>("most_64", "the first 64 groups"),
            kzoo::variant<next_b>("next_b", "the next group's B"),
            kzoo::variant<even_split>("even_split", "takes groups for equally large ones"),
            kzoo::variant<drops_last_row>("drops_last_row", "not the last row of each group"),
            kzoo::variant<keeps_offsets>("keeps_offsets", "the offsets of the first call"),
            kzoo::variant<keeps_b>("keeps_b", "B where it was at the first call"));
