// What a call of libkzoo says that cannot be carried out.

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"

#include <kzoo/kzoo.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <string>

using kzoo::test::ContainsSubstring;

namespace {

const std::string kPlugins = kzoo::test::plugin_folder("cpu").string();

// The arguments of a call, which a test makes wrong one by one.
struct arguments {
  kzoo_handle handle;
  kzoo_operation transa = KZOO_OP_N, transb = KZOO_OP_N;
  std::int64_t m = 3, n = 4, k = 5, lda = 3, ldb = 5, ldc = 3;
  float one = 1;
  const float *alpha = &one, *beta = &one;
  std::array<float, 64> numbers{};
  const float *a = numbers.data(), *b = numbers.data();
  std::array<float, 64> result{};
  float* c = result.data();
  kzoo_type type_a = KZOO_F32, type_b = KZOO_F32, type_c = KZOO_F32;
  kzoo_call how{sizeof(kzoo_call), nullptr, nullptr, 0, nullptr, 0, 0, 0, 0, 0, 0};

  kzoo_status call() const {
    return kzoo_gemm_ex(handle, transa, transb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb,
                        beta, c, type_c, ldc, &how);
  }
};

kzoo_status create(const std::function<void(kzoo_options&)>& change) {
  kzoo_options options{};
  options.struct_size = sizeof options;
  options.device = KZOO_CPU;
  options.plugins = kPlugins.c_str();
  change(options);
  kzoo_handle handle = nullptr;
  const kzoo_status status = kzoo_create(&handle, &options);
  CHECK((handle != nullptr) == (status == KZOO_OK));
  kzoo_handle unused = handle;
  const std::string words = kzoo_last_error();
  if (unused != nullptr) kzoo_destroy(unused);
  INFO(words);
  CHECK(words.empty() == (status == KZOO_OK));
  return status;
}

}  // namespace

TEST_CASE("each wrong argument has its code and a sentence that names it") {
  const kzoo::handle handle({.device = KZOO_CPU, .plugins = kPlugins, .kernels = "serial:ikj"});
  struct mistake {
    std::function<void(arguments&)> make;
    kzoo_status status;
    std::string words;
  };
  const std::vector<mistake> mistakes{
      {[](auto& x) { x.handle = nullptr; }, KZOO_NULL_POINTER, "handle is NULL"},
      {[](auto& x) { x.alpha = nullptr; }, KZOO_NULL_POINTER, "alpha is NULL"},
      {[](auto& x) { x.beta = nullptr; }, KZOO_NULL_POINTER, "beta is NULL"},
      {[](auto& x) { x.a = nullptr; }, KZOO_NULL_POINTER, "A is NULL"},
      {[](auto& x) { x.b = nullptr; }, KZOO_NULL_POINTER, "B is NULL"},
      {[](auto& x) { x.c = nullptr; }, KZOO_NULL_POINTER, "C is NULL"},
      {[](auto& x) { x.m = -1; }, KZOO_INVALID_SIZE, "negative: -1, 4, 5"},
      {[](auto& x) { x.k = -3; }, KZOO_INVALID_SIZE, "negative"},
      {[](auto& x) { x.how.batch = -2; }, KZOO_INVALID_SIZE, "batch"},
      {[](auto& x) { x.lda = 2; }, KZOO_INVALID_SIZE, "lda is 2, and must be at least 3"},
      {[](auto& x) { x.transa = KZOO_OP_T; }, KZOO_INVALID_SIZE,
       "lda is 3, and must be at least 5"},
      {[](auto& x) { x.ldb = 4; }, KZOO_INVALID_SIZE, "ldb is 4"},
      {[](auto& x) { x.how.row_major = 1; }, KZOO_INVALID_SIZE, "lda is 3, and must be at least 5"},
      {[](auto& x) { x.ldc = 0; }, KZOO_INVALID_SIZE, "ldc is 0"},
      {[](auto& x) { x.ldc = std::int64_t{1} << 41; }, KZOO_INVALID_SIZE, "2^40"},
      {[](auto& x) { x.how.batch = 2; }, KZOO_INVALID_SIZE,
       "stride of C is 0, and must be at least 12"},
      {[](auto& x) { x.how.batch = 2, x.how.stride_c = 12, x.how.stride_a = 7; }, KZOO_INVALID_SIZE,
       "stride of A is 7, and must be at least 15, or 0"},
      {[](auto& x) { x.n = std::int64_t{1} << 25, x.ldc = std::int64_t{1} << 40; },
       KZOO_INVALID_SIZE, "C reaches over more than 2^56 elements: 33554432 times 1099511627776"},
      {[](auto& x) { x.how.batch = 2, x.how.stride_c = INT64_MAX; }, KZOO_INVALID_SIZE,
       "C reaches over more than 2^56 elements: 2 times 9223372036854775807"},
      {[](auto& x) { x.how.batch = INT64_MAX, x.how.stride_c = 12; }, KZOO_INVALID_SIZE,
       "C reaches over more than 2^56 elements: 9223372036854775807 times 12"},
      {[](auto& x) { x.how.batch = 3, x.how.stride_c = 12, x.how.stride_b = INT64_MIN; },
       KZOO_INVALID_SIZE, "stride of B is -9223372036854775808, and must be at least 20, or 0"},
      {[](auto& x) { x.transb = 3; }, KZOO_INVALID_ARGUMENT, "the operation of B is 3"},
      {[](auto& x) { x.how.struct_size = 8; }, KZOO_INVALID_ARGUMENT, "struct_size is 8"},
      {[](auto& x) { x.type_a = 0; }, KZOO_UNSUPPORTED_TYPE, "type of A is 0"},
      {[](auto& x) { x.type_c = 99; }, KZOO_UNSUPPORTED_TYPE, "type of C is 99"},
      {[](auto& x) { x.type_a = KZOO_F16; }, KZOO_UNSUPPORTED_TYPE, "f32*f16->f32"},
      {[](auto& x) { x.how.device_scalars = 1; }, KZOO_DEVICE_SCALARS, "host memory"},
      {[](auto& x) { x.m = x.lda = x.ldc = std::int64_t{1} << 31; }, KZOO_UNSUPPORTED,
       "serial:ikj: sizes above 2^30"},
  };
  for (const mistake& wrong : mistakes) {
    arguments x{.handle = handle.get()};
    wrong.make(x);
    INFO(wrong.words);
    CHECK(kzoo_status_name(x.call()) == std::string(kzoo_status_name(wrong.status)));
    CHECK_THAT(kzoo_last_error(), ContainsSubstring(wrong.words));
    // Nothing is kept of it.
    CHECK(arguments{.handle = handle.get()}.call() == KZOO_OK);
    CHECK(std::string(kzoo_last_error()).empty());
  }
}

TEST_CASE("a product without elements is none, and its matrices are not looked at") {
  const kzoo::handle handle({.device = KZOO_CPU, .plugins = kPlugins, .kernels = "serial"});
  arguments x{.handle = handle.get()};
  x.a = x.b = x.c = nullptr;
  x.m = 0;
  CHECK(x.call() == KZOO_OK);
  x.m = 3, x.n = 0;
  CHECK(x.call() == KZOO_OK);
  x.n = 4, x.k = 0, x.c = x.result.data();
  CHECK(x.call() == KZOO_OK);  // beta is 1
  for (const float beta : {2.0F, 0.0F}) {
    std::ranges::fill(x.result, 3.0F);
    x.beta = &beta;
    INFO(kzoo_last_error());
    CHECK(x.call() == KZOO_OK);
    CHECK(std::ranges::count(x.result, 3 * beta) == 12);
  }
  x.beta = &x.one;
  CHECK(kzoo_sgemm_strided_batched(handle.get(), KZOO_OP_N, KZOO_OP_N, 3, 4, 5, x.alpha, nullptr, 3,
                                   15, nullptr, 5, 20, x.beta, nullptr, 3, 12, 0,
                                   nullptr) == KZOO_OK);
}

TEST_CASE("each wrong option has its code") {
  CHECK(create([](kzoo_options&) {}) == KZOO_OK);
  CHECK(create([](auto& o) { o.device = 9; }) == KZOO_INVALID_ARGUMENT);
  CHECK(create([](auto& o) { o.precision = KZOO_COMPUTE_TF32; }) == KZOO_INVALID_ARGUMENT);
  CHECK(create([](auto& o) { o.struct_size = 4; }) == KZOO_INVALID_ARGUMENT);
  CHECK(create([](auto& o) { o.plugins = "/nowhere"; }) == KZOO_UNAVAILABLE);
  CHECK(create([](auto& o) { o.kernels = "unheard_of"; }) == KZOO_UNAVAILABLE);
  CHECK(create([](auto& o) { o.kernels = "serial:kij"; }) == KZOO_UNAVAILABLE);
  for (const char* names : {",", " serial", "serial, naive", "../cpu/serial", "serial:", ":ikj"}) {
    INFO(names);
    CHECK(create([&](auto& o) { o.kernels = names; }) == KZOO_INVALID_ARGUMENT);
    CHECK_THAT(kzoo_last_error(), ContainsSubstring("names no kernel"));
  }
  CHECK(create([](auto& o) { o.declined = "cublas, cublaslt"; }) == KZOO_INVALID_ARGUMENT);
  CHECK(create([](auto& o) { o.tuned = "/nowhere.json"; }) == KZOO_INVALID_TABLE);
  CHECK(create([](auto& o) { o.tuned = kPlugins.c_str(); }) == KZOO_INVALID_TABLE);
  CHECK_THAT(kzoo_last_error(),
             ContainsSubstring(kPlugins + ": error: is a directory; name a tuned table"));
  CHECK(kzoo_create(nullptr, nullptr) == KZOO_NULL_POINTER);
  CHECK(kzoo_destroy(nullptr) == KZOO_OK);
  for (const char* name : {"no_symbol", "abi_v2"}) {
    INFO(name);
    const std::string file = kzoo::test::hostile_plugin("cpu", name).string();
    CHECK(create([&](auto& o) { o.plugins = file.c_str(), o.kernels = name; }) == KZOO_UNAVAILABLE);
  }
}

TEST_CASE("a program that checks for leaks finds none of libkzoo's") {
  const kzoo::test::run_result run = kzoo::test::run_program(
      kzoo::test::library_stand_in("kzoo_leak_checked"), kzoo::test::shell_word(kPlugins));
  INFO(run.err);
  CHECK(run.out == "KZOO_OK\n");
  // Rather than its exit code: where processes cannot be traced it has not looked.
  CHECK_THAT(run.err, !ContainsSubstring("detected memory leaks"));
}

TEST_CASE("an exception of the C++ header has the code and the sentence") {
  const auto open = [] {
    return kzoo::handle({.device = KZOO_CPU, .plugins = kPlugins, .kernels = "serial:kij"});
  };
  CHECK_THROWS_WITH(open(), "there is no kernel 'serial:kij': the variants of serial are ijk, ikj");
  try {
    open();
  } catch (const kzoo::error& e) {
    CHECK(e.status == KZOO_UNAVAILABLE);
  }
}

TEST_CASE("without a GPU a handle for one is refused, and says so") {
  const kzoo::test::environment hidden("CUDA_VISIBLE_DEVICES", "");
  kzoo_handle handle = nullptr;
  CHECK(kzoo_create(&handle, nullptr) == KZOO_UNAVAILABLE);
  CHECK(handle == nullptr);
  CHECK_THAT(kzoo_last_error(), ContainsSubstring("CUDA"));
}

TEST_CASE("with a GPU a handle is for the current device", "[.gpu]") {
  kzoo::test::needs_gpu();
  kzoo_handle handle = nullptr;
  const kzoo_status status = kzoo_create(&handle, nullptr);
  INFO(kzoo_last_error());
  CHECK(status == KZOO_OK);
  CHECK(kzoo_destroy(handle) == KZOO_OK);
}
