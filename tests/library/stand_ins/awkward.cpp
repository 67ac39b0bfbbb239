// Kernels that a preloaded library has to be careful with: one that calls cuBLAS itself, one that
// fails, and one that cannot be prepared.

#include <kzoo/plugin.hpp>

#include <dlfcn.h>

namespace {

struct calls_cublas {
  using layouts = kzoo::every_layout;

  template <kzoo::layout kLayout>
  void run(const kzoo::gemm<float, kLayout>& g, kzoo::stream_t) const {
    using sgemm = int (*)(void*, int, int, int, int, int, const float*, const float*, int,
                          const float*, int, const float*, float*, int);
    const auto call = reinterpret_cast<sgemm>(dlsym(RTLD_DEFAULT, "cublasSgemm_v2"));
    void* handle = nullptr;
    reinterpret_cast<int (*)(void**)>(dlsym(RTLD_DEFAULT, "cublasCreate_v2"))(&handle);
    call(handle, 0, 0, g.n, g.m, g.k, &g.alpha, g.b, static_cast<int>(g.ldb), g.a,
         static_cast<int>(g.lda), &g.beta, g.c, static_cast<int>(g.ldc));
    reinterpret_cast<int (*)(void*)>(dlsym(RTLD_DEFAULT, "cublasDestroy_v2"))(handle);
  }
};

struct fails {
  using layouts = kzoo::every_layout;
  template <kzoo::layout kLayout>
  void run(const kzoo::gemm<float, kLayout>&, kzoo::stream_t) const {
    throw kzoo::error(KZOO_ERROR, "no luck today");
  }
};

struct cannot_be_prepared : fails {
  cannot_be_prepared(const kzoo_problem&, const kzoo_device&) {
    throw kzoo::error(KZOO_ERROR, "nothing to work with");
  }
};

}  // namespace

KZOO_PLUGIN("awkward", "For tests", kzoo::variant<calls_cublas>("calls_cublas", "calls cuBLAS"),
            kzoo::variant<fails>("fails", "fails in run"),
            kzoo::variant<cannot_be_prepared>("cannot_be_prepared", "fails in create"));
