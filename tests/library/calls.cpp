// libkzoo's products on the cpu device: random calls, threads, types.

#include "library/random_product.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"

#include <kzoo/kzoo.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

using kzoo::test::random_product;

namespace {

kzoo::handle open(const std::string& kernels, std::uint64_t cached = 0) {
  return kzoo::handle({.device = KZOO_CPU,
                       .plugins = kzoo::test::plugin_folder("cpu").string(),
                       .kernels = kernels,
                       .cached_problems = cached});
}

}  // namespace

TEST_CASE("random calls compute what an fp64 loop does") {
  // The last one needs a workspace. "": what is used by default.
  const std::string kernels = GENERATE("", "every_type", "smem,every_type", "serial:ikj");
  const kzoo::handle handle = open(kernels);
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const random_product p(random);
    INFO(i << ": " << p.name() << " by " << kernels);
    std::vector<float> c;
    const kzoo_status status = p.call(handle.get(), c);
    INFO(kzoo_last_error());
    REQUIRE(status == KZOO_OK);
    CHECK(std::string(kzoo_last_error()).empty());
    INFO(kzoo_last_kernel());
    CHECK(p.worst_error(c) <= 1);
  }
}

TEST_CASE("the short functions are kzoo_gemm_ex with their arguments") {
  const kzoo::handle handle = open("serial:ijk");
  std::mt19937 random(2);
  for (int i = 0; i < 40; ++i) {
    const random_product p(random, 40);
    std::vector<float> expected, c = p.c;
    REQUIRE(p.call(handle.get(), expected) == KZOO_OK);
    if (p.batch == 1 && p.row_major) {
      handle.sgemm_row_major(p.transa, p.transb, p.m, p.n, p.k, p.alpha, p.a.data(), p.lda,
                             p.b.data(), p.ldb, p.beta, c.data(), p.ldc);
    } else if (p.batch == 1) {
      handle.sgemm(p.transa, p.transb, p.m, p.n, p.k, p.alpha, p.a.data(), p.lda, p.b.data(), p.ldb,
                   p.beta, c.data(), p.ldc);
    } else if (!p.row_major) {
      handle.sgemm_strided_batched(p.transa, p.transb, p.m, p.n, p.k, p.alpha, p.a.data(), p.lda,
                                   p.stride_a, p.b.data(), p.ldb, p.stride_b, p.beta, c.data(),
                                   p.ldc, p.stride_c, p.batch);
    } else {
      continue;
    }
    INFO(p.name());
    CHECK(std::equal(c.begin(), c.end(), expected.begin(),
                     [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); }));
  }
}

TEST_CASE("threads share a handle, with a stream each and with one stream") {
  const bool own_streams = GENERATE(true, false);
  // Room for few problems, so that instances are evicted while others run.
  const kzoo::handle handle = open("serial:ikj,every_type", 3);
  std::atomic<int> wrong = 0, done = 0;
  std::array<int, 6> streams{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < streams.size(); ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      void* stream = own_streams ? &streams[t] : nullptr;
      for (int i = 0; i < 30; ++i) {
        const random_product p(random, 60);
        std::vector<float> c;
        const bool right = p.call(handle.get(), c, stream) == KZOO_OK && p.worst_error(c) <= 1;
        wrong += right ? 0 : 1;
        ++done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(done == 180);
  CHECK(wrong == 0);
}

TEST_CASE("elements may be of any type that a kernel has") {
  const kzoo::handle handle = open("every_type");
  const std::array<double, 4> a{1, 2, 3, 4}, b{5, 6, 7, 8};
  std::array<double, 4> c{1, 1, 1, 1};
  const double alpha = 2, beta = 3;
  kzoo_call how{};
  how.struct_size = sizeof how;
  how.row_major = 1;
  handle.gemm_ex(KZOO_OP_N, KZOO_OP_N, 2, 2, 2, &alpha, a.data(), KZOO_F64, 2, b.data(), KZOO_F64,
                 2, &beta, c.data(), KZOO_F64, 2, how);
  CHECK(c == std::array<double, 4>{41, 47, 89, 103});

  const std::array<std::int8_t, 4> ia{1, 2, 3, 4}, ib{5, 6, 7, 8};
  std::array<std::int32_t, 4> ic{1, 1, 1, 1};
  const std::int32_t whole_alpha = 2, whole_beta = 3;
  handle.gemm_ex(KZOO_OP_N, KZOO_OP_N, 2, 2, 2, &whole_alpha, ia.data(), KZOO_I8, 2, ib.data(),
                 KZOO_I8, 2, &whole_beta, ic.data(), KZOO_I32, 2, how);
  CHECK(ic == std::array<std::int32_t, 4>{41, 47, 89, 103});
}

TEST_CASE("a call says how much workspace it needs, and takes the caller's") {
  const kzoo::handle handle = open("serial:ikj");
  std::mt19937 random(3);
  const random_product p(random, 50);
  std::vector<float> c = p.c;
  kzoo_call how{};
  how.struct_size = sizeof how;
  how.row_major = p.row_major ? 1 : 0;
  how.batch = p.batch;
  how.stride_a = p.stride_a, how.stride_b = p.stride_b, how.stride_c = p.stride_c;
  std::uint64_t bytes = 0;
  how.workspace_needed = &bytes;
  const auto call = [&] {
    return kzoo_gemm_ex(handle.get(), p.transa, p.transb, p.m, p.n, p.k, &p.alpha, p.a.data(),
                        KZOO_F32, p.lda, p.b.data(), KZOO_F32, p.ldb, &p.beta, c.data(), KZOO_F32,
                        p.ldc, &how);
  };
  REQUIRE(call() == KZOO_OK);
  CHECK(bytes == sizeof(float) * static_cast<std::size_t>(p.row_major ? p.n : p.m));
  CHECK(std::equal(c.begin(), c.end(), p.c.begin(),
                   [](float x, float y) { return x == y || std::isnan(x); }));

  how.workspace_needed = nullptr;
  alignas(256) std::array<float, 128> workspace;
  workspace.fill(-7);
  how.workspace = workspace.data();
  how.workspace_bytes = bytes;
  REQUIRE(call() == KZOO_OK);
  CHECK(p.worst_error(c) <= 1);
  CHECK(workspace[0] != -7);  // it was used, and nothing behind it
  CHECK(workspace[bytes / sizeof(float)] == -7);

  how.workspace_bytes = bytes - 1;
  CHECK(call() == KZOO_WORKSPACE_TOO_SMALL);
  how.workspace = workspace.data() + 1;
  CHECK(call() == KZOO_INVALID_ARGUMENT);
}
