// The C functions: exceptions become codes.

#include "arguments.hpp"
#include "context.hpp"
#include "os/text.hpp"

#include <kzoo/kzoo.h>
#include <kzoo/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>

using kzoo::error;
using kzoo::library::outcome;
using kzoo::library::product;

namespace {

thread_local std::string last_error;
thread_local kzoo::library::kernel last_kernel;
thread_local std::string last_kernel_name;

// `why` may quote other texts, such as a table.
kzoo_status fail(kzoo_status status, std::string_view why) {
  last_error = kzoo::printable(why);
  return status;
}

// Runs `body`, which returns an outcome, and turns an exception into a status and a sentence.
template <class Body>
kzoo_status guarded(Body&& body) {
  try {
    outcome o = body();
    if (o.computed_by.of != nullptr) last_kernel = o.computed_by;
    return fail(o.status, o.why);
  } catch (const error& e) {
    return fail(e.status, e.what());
  } catch (const std::bad_alloc&) {
    return fail(KZOO_OUT_OF_MEMORY, "no more host memory");
  } catch (const std::exception& e) {
    return fail(KZOO_ERROR, e.what());
  }
}

// Reads a caller's struct, whose size depends on the version. Fields that the caller does not know
// are zero; nonzero fields that this library does not know are an error.
template <class Struct>
Struct read_struct(const Struct* given, const char* name) {
  Struct all{};
  if (given == nullptr) return all;
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  const std::uint64_t size = given->struct_size;
  if (size < sizeof(Struct) ||
      std::any_of(bytes + sizeof(Struct), bytes + size, [](unsigned char b) { return b != 0; })) {
    throw error(KZOO_INVALID_ARGUMENT, std::string(name) + "->struct_size is " +
                                           std::to_string(size) + ", this library knows " +
                                           std::to_string(sizeof(Struct)));
  }
  std::memcpy(&all, given, sizeof(Struct));
  return all;
}

template <class T>
void require_handle(const T* handle) {
  if (handle == nullptr) throw error(KZOO_NULL_POINTER, "handle is NULL");
}

}  // namespace

extern "C" {

kzoo_status kzoo_create(kzoo_handle* handle, const kzoo_options* options) {
  return guarded([&]() -> outcome {
    require_handle(handle);
    *handle = nullptr;
    *handle = new kzoo_context(read_struct(options, "options"));
    return {};
  });
}

kzoo_status kzoo_destroy(kzoo_handle handle) {
  return guarded([&]() -> outcome {
    delete handle;
    return {};
  });
}

kzoo_status kzoo_gemm_ex(kzoo_handle handle, kzoo_operation transa, kzoo_operation transb,
                         std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
                         const void* a, kzoo_type type_a, std::int64_t lda, const void* b,
                         kzoo_type type_b, std::int64_t ldb, const void* beta, void* c,
                         kzoo_type type_c, std::int64_t ldc, const kzoo_call* call) {
  return guarded([&]() -> outcome {
    require_handle(handle);
    const kzoo_call how = read_struct(call, "call");
    const std::optional<product> p =
        kzoo::library::to_product({.a = {"A", "lda", a, type_a, lda, how.stride_a, transa},
                                   .b = {"B", "ldb", b, type_b, ldb, how.stride_b, transb},
                                   .c = {"C", "ldc", c, type_c, ldc, how.stride_c, KZOO_OP_N},
                                   .out = c,
                                   .m = m,
                                   .n = n,
                                   .k = k,
                                   .alpha = alpha,
                                   .beta = beta},
                                  how);
    return p ? handle->run(*p) : outcome{};
  });
}

kzoo_status kzoo_sgemm(kzoo_handle handle, kzoo_operation transa, kzoo_operation transb,
                       std::int64_t m, std::int64_t n, std::int64_t k, const float* alpha,
                       const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                       const float* beta, float* c, std::int64_t ldc, void* stream) {
  kzoo_call call{};
  call.struct_size = sizeof call;
  call.stream = stream;
  return kzoo_gemm_ex(handle, transa, transb, m, n, k, alpha, a, KZOO_F32, lda, b, KZOO_F32, ldb,
                      beta, c, KZOO_F32, ldc, &call);
}

kzoo_status kzoo_sgemm_row_major(kzoo_handle handle, kzoo_operation transa, kzoo_operation transb,
                                 std::int64_t m, std::int64_t n, std::int64_t k, const float* alpha,
                                 const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                                 const float* beta, float* c, std::int64_t ldc, void* stream) {
  kzoo_call call{};
  call.struct_size = sizeof call;
  call.stream = stream;
  call.row_major = 1;
  return kzoo_gemm_ex(handle, transa, transb, m, n, k, alpha, a, KZOO_F32, lda, b, KZOO_F32, ldb,
                      beta, c, KZOO_F32, ldc, &call);
}

kzoo_status kzoo_sgemm_strided_batched(kzoo_handle handle, kzoo_operation transa,
                                       kzoo_operation transb, std::int64_t m, std::int64_t n,
                                       std::int64_t k, const float* alpha, const float* a,
                                       std::int64_t lda, std::int64_t stride_a, const float* b,
                                       std::int64_t ldb, std::int64_t stride_b, const float* beta,
                                       float* c, std::int64_t ldc, std::int64_t stride_c,
                                       std::int64_t batch, void* stream) {
  kzoo_call call{};
  call.struct_size = sizeof call;
  call.stream = stream;
  call.batch = batch;
  call.stride_a = stride_a;
  call.stride_b = stride_b;
  call.stride_c = stride_c;
  // An empty batch has no rows, since 0 in kzoo_call means a single GEMM.
  const std::int64_t rows = batch == 0 ? 0 : m;
  return kzoo_gemm_ex(handle, transa, transb, rows, n, k, alpha, a, KZOO_F32, lda, b, KZOO_F32, ldb,
                      beta, c, KZOO_F32, ldc, &call);
}

const char* kzoo_last_error(void) { return last_error.c_str(); }

const char* kzoo_last_kernel(void) {
  last_kernel_name = last_kernel.of == nullptr ? "" : last_kernel.name();
  return last_kernel_name.c_str();
}

const char* kzoo_version(void) { return KZOO_VERSION; }

const char* kzoo_status_name(kzoo_status status) {
  struct named {
    kzoo_status status;
    const char* name;
  };
  constexpr std::array kNames{named{KZOO_OK, "KZOO_OK"},
                              named{KZOO_UNSUPPORTED, "KZOO_UNSUPPORTED"},
                              named{KZOO_UNAVAILABLE, "KZOO_UNAVAILABLE"},
                              named{KZOO_ERROR, "KZOO_ERROR"},
                              named{KZOO_LAUNCH_FAILED, "KZOO_LAUNCH_FAILED"},
                              named{KZOO_NULL_POINTER, "KZOO_NULL_POINTER"},
                              named{KZOO_INVALID_SIZE, "KZOO_INVALID_SIZE"},
                              named{KZOO_INVALID_ARGUMENT, "KZOO_INVALID_ARGUMENT"},
                              named{KZOO_UNSUPPORTED_TYPE, "KZOO_UNSUPPORTED_TYPE"},
                              named{KZOO_DEVICE_SCALARS, "KZOO_DEVICE_SCALARS"},
                              named{KZOO_WORKSPACE_TOO_SMALL, "KZOO_WORKSPACE_TOO_SMALL"},
                              named{KZOO_OUT_OF_MEMORY, "KZOO_OUT_OF_MEMORY"},
                              named{KZOO_INVALID_TABLE, "KZOO_INVALID_TABLE"},
                              named{KZOO_DECLINED, "KZOO_DECLINED"}};
  const auto* known = std::find_if(kNames.begin(), kNames.end(),
                                   [&](const named& n) { return n.status == status; });
  return known == kNames.end() ? "unknown status" : known->name;
}
}
