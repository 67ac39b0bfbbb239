// Right but in one corner each, where a harness must look on purpose.
#include "hostile.hpp"

namespace {

enum class corner { ldb_for_ldc, ldc_for_ldb, negative_beta, vectors, long_k, many_elements };

template <corner kCorner>
__global__ void corner_kernel(hostile::gemm g) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  if (kCorner == corner::many_elements && row * g.n + col > 0xffff) return;
  const std::ptrdiff_t ldb = kCorner == corner::ldc_for_ldb ? g.ldc : g.ldb;
  if (kCorner == corner::ldb_for_ldc) g.ldc = g.ldb;
  if (kCorner == corner::negative_beta && g.beta < 0) g.beta = 0;
  if (kCorner == corner::vectors && (g.m == 1 || g.n == 1)) g.beta = 0;
  const int k = kCorner == corner::long_k ? g.k & 0xffff : g.k;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += g.a_at(row, i) * g.b[i * ldb + col];
  g.store(row, col, sum);
}

template <corner kCorner>
struct corner_case {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    hostile::launch(corner_kernel<kCorner>, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("corner_cases", "Wrong in one corner",
            kzoo::variant<corner_case<corner::ldb_for_ldc>>("ldb_for_ldc", "rows of C as B has"),
            kzoo::variant<corner_case<corner::ldc_for_ldb>>("ldc_for_ldb", "rows of B as C has"),
            kzoo::variant<corner_case<corner::negative_beta>>("negative_beta", "beta > 0 is asked"),
            kzoo::variant<corner_case<corner::vectors>>("vectors", "no beta where M or N is 1"),
            kzoo::variant<corner_case<corner::long_k>>("long_k", "K in 16 bits"),
            kzoo::variant<corner_case<corner::many_elements>>("many_elements",
                                                              "an element's number in 16 bits"));
