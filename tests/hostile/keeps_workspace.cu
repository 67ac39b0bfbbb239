// A workspace taken for a kernel's own: as it was left, or where it was.
#include "hostile.hpp"

namespace {

// What is read from the workspace is the zero that was written there, now or once.
__global__ void keeps_workspace_kernel(hostile::gemm g, float* zeroes, const float* read) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  if (zeroes != nullptr) zeroes[row * g.n + col] = 0;
  float sum = read[row * g.n + col];
  for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
  g.store(row, col, sum);
}

enum class what { contents, address };

template <what kWhat>
struct keeps_workspace {
  using types = kzoo::types<float>;
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device&) {
    return static_cast<std::size_t>(p.m * p.n) * sizeof(float);
  }
  void run(const hostile::gemm& g, const kzoo_arguments& arguments) const {
    auto* workspace = static_cast<float*>(arguments.workspace);
    const bool is_first = first == nullptr;
    if (is_first) first = workspace;
    float* const zeroes = kWhat == what::address || is_first ? first : nullptr;
    const dim3 grid(kzoo::ceil_div(g.n, 16), kzoo::ceil_div(g.m, 16));
    kzoo::launch({.grid = grid,
                  .block = dim3(16, 16),
                  .stream = static_cast<kzoo::stream_t>(arguments.stream)},
                 keeps_workspace_kernel, g, zeroes, static_cast<const float*>(workspace));
  }
  mutable float* first = nullptr;
};

}  // namespace

KZOO_PLUGIN("keeps_workspace", "Relies on its workspace from call to call",
            kzoo::variant<keeps_workspace<what::contents>>("contents", "zeroes it once"),
            kzoo::variant<keeps_workspace<what::address>>("address", "zeroes where it was first"));
