// OpenBLAS: what a CPU can do when the code is written for it.

#include <kzoo/plugin.hpp>

#include <cblas.h>

namespace {

template <bool kOneThread>
class sgemm {
 public:
  using types = kzoo::types<float>;
  using layouts = kzoo::every_layout;
  static constexpr bool batches = true;

  sgemm(const kzoo_problem&, const kzoo_device& d)
      : threads_(kOneThread ? 1 : std::max(1, static_cast<int>(d.threads))) {}

  template <kzoo::layout kLayout>
  void run(const kzoo::gemm<float, kLayout>& g, kzoo::stream_t) const {
    constexpr auto kTransA = kzoo::is_a_transposed(kLayout) ? CblasTrans : CblasNoTrans;
    constexpr auto kTransB = kzoo::is_b_transposed(kLayout) ? CblasTrans : CblasNoTrans;
    // A setting of the whole process, which another variant may have changed. Setting the same
    // number again costs nothing.
    openblas_set_num_threads(threads_);
    cblas_sgemm(CblasRowMajor, kTransA, kTransB, g.m, g.n, g.k, g.alpha,             //
                g.a, static_cast<blasint>(g.lda), g.b, static_cast<blasint>(g.ldb),  //
                g.beta, g.c, static_cast<blasint>(g.ldc));
  }

 private:
  int threads_;
};

}  // namespace

KZOO_PLUGIN("openblas", "OpenBLAS on the CPU",
            kzoo::variant<sgemm<false>>("sgemm", "cblas_sgemm on all hardware threads"),
            kzoo::variant<sgemm<true>>("sgemm_1thread", "cblas_sgemm on one thread"));
