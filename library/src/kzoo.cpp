// The C functions: arguments are checked and turned into the problem of the kernels' ABI, and
// exceptions into codes.

#include "context.hpp"

#include <kzoo/kzoo.h>
#include <kzoo/error.hpp>
#include <kzoo/type_names.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <string>
#include <utility>

using kzoo::error;
using kzoo::library::outcome;
using kzoo::library::product;

namespace {

thread_local std::string last_error;
thread_local kzoo::library::kernel last_kernel;
thread_local std::string last_kernel_name;

// Runs `body`, which returns an outcome, and turns an exception into a status and a sentence.
template <class Body>
kzoo_status guarded(Body&& body) {
  try {
    outcome o = body();
    if (o.computed_by.of != nullptr) last_kernel = o.computed_by;
    last_error = std::move(o.why);
    return o.status;
  } catch (const error& e) {
    last_error = e.what();
    return e.status;
  } catch (const std::bad_alloc&) {
    last_error = "no more host memory";
    return KZOO_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    last_error = e.what();
    return KZOO_ERROR;
  }
}

// A caller's struct, of which later versions may have more fields: zeros for those that the caller
// does not know, and an error for those that this library does not know.
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

void require_size(bool condition, const std::string& rule) {
  if (!condition) throw error(KZOO_INVALID_SIZE, rule);
}

void require_pointer(const void* pointer, const char* name) {
  if (pointer == nullptr) throw error(KZOO_NULL_POINTER, std::string(name) + " is NULL");
}

bool is_transposed(kzoo_operation op, const char* name) {
  if (op > KZOO_OP_C) {
    throw error(KZOO_INVALID_ARGUMENT,
                std::string(name) + " is " + std::to_string(op) + ", which is no kzoo_operation");
  }
  return op != KZOO_OP_N;
}

// One matrix as the caller has it: its rows and columns in memory, before op.
struct matrix {
  const char *name, *ld_name;
  const void* data;
  kzoo_type type;
  std::int64_t rows, cols, ld, stride;
  bool transposed;

  void check(bool row_major) const {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    require_size(rows <= kMost && cols <= kMost && ld <= kMost,
                 "sizes above 2^40 are not supported");
    const std::int64_t least = std::max<std::int64_t>(1, row_major ? cols : rows);
    require_size(ld >= least, std::string(ld_name) + " is " + std::to_string(ld) +
                                  ", and must be at least " + std::to_string(least));
    if (type < KZOO_F32 || type > KZOO_E5M2) {
      throw error(KZOO_UNSUPPORTED_TYPE, std::string("the type of ") + name + " is " +
                                             std::to_string(type) + ", which is no kzoo_type");
    }
  }
  // In a batch products lie one after the other, or, where `may_share`, have the matrix in common.
  void check_stride(bool row_major, bool may_share) const {
    const std::int64_t lines = row_major ? rows : cols;
    const std::int64_t least = lines > 0 ? (lines - 1) * ld + (row_major ? cols : rows) : 0;
    require_size(stride >= least || (may_share && stride == 0),
                 std::string("the stride of ") + name + " is " + std::to_string(stride) +
                     ", and must be at least " + std::to_string(least) +
                     (may_share ? ", or 0" : ""));
  }
  // A row-major matrix is its transpose to a caller with column-major ones.
  kzoo_layout layout() const { return transposed ? KZOO_COLUMN_MAJOR : KZOO_ROW_MAJOR; }
};

std::uint64_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

constexpr std::uint64_t kWorkspace = 256;  // bytes that a workspace is aligned to

// Kernels ask whether vectors are aligned; few different answers, so that few instances are made.
std::uint64_t common_alignment(const void* a, const void* b, const void* c) {
  constexpr std::uint64_t kVector = 16;
  const std::uint64_t alignment =
      std::uint64_t{1} << std::countr_zero(address(a) | address(b) | address(c) | kWorkspace);
  return alignment >= kWorkspace ? kWorkspace : std::min(alignment, kVector);
}

double scalar(const void* value, kzoo_type type_c) {
  if (type_c == KZOO_F64) return *static_cast<const double*>(value);
  if (type_c == KZOO_I32) return *static_cast<const std::int32_t*>(value);
  return *static_cast<const float*>(value);
}

struct scalars {
  const void *alpha, *beta;
};

// C^T = op(B)^T op(A)^T: a column-major product is the row-major one of the transposes, which in
// memory are the matrices themselves.
product as_row_major(matrix a, matrix b, matrix c, void* out, std::int64_t k, scalars factors,
                     const kzoo_call& how) {
  if (how.row_major == 0) std::swap(a, b);
  const bool swapped = how.row_major == 0;
  product p{};
  p.problem = {.struct_size = sizeof(kzoo_problem),
               .m = swapped ? c.cols : c.rows,
               .n = swapped ? c.rows : c.cols,
               .k = k,
               .lda = a.ld,
               .ldb = b.ld,
               .ldc = c.ld,
               .type_a = a.type,
               .type_b = b.type,
               .type_c = c.type,
               .layout_a = a.layout(),
               .layout_b = b.layout(),
               .layout_c = KZOO_ROW_MAJOR,
               .alpha = scalar(factors.alpha, c.type),
               .beta = scalar(factors.beta, c.type),
               .alignment = common_alignment(a.data, b.data, out),
               .scale_a = 0,
               .scale_b = 0,
               .batch = how.batch > 1 ? how.batch : 0,
               .stride_a = how.batch > 1 ? a.stride : 0,
               .stride_b = how.batch > 1 ? b.stride : 0,
               .stride_c = how.batch > 1 ? c.stride : 0};
  p.a = a.data;
  p.b = b.data;
  p.c = out;
  p.stream = how.stream;
  p.workspace = how.workspace;
  p.workspace_bytes = how.workspace_bytes;
  p.workspace_needed = how.workspace_needed;
  return p;
}

}  // namespace

extern "C" {

kzoo_status kzoo_create(kzoo_handle* handle, const kzoo_options* options) {
  return guarded([&]() -> outcome {
    require_pointer(handle, "handle");
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
    require_pointer(handle, "handle");
    const kzoo_call how = read_struct(call, "call");
    const bool row_major = how.row_major != 0;
    require_size(m >= 0 && n >= 0 && k >= 0,
                 "m, n and k must not be negative: " + std::to_string(m) + ", " +
                     std::to_string(n) + ", " + std::to_string(k));
    require_size(how.batch >= 0, "the batch must not be negative");
    const bool at = is_transposed(transa, "transa"), bt = is_transposed(transb, "transb");
    const matrix of_a{"A", "lda", a, type_a, at ? k : m, at ? m : k, lda, how.stride_a, at};
    const matrix of_b{"B", "ldb", b, type_b, bt ? n : k, bt ? k : n, ldb, how.stride_b, bt};
    const matrix of_c{"C", "ldc", c, type_c, m, n, ldc, how.stride_c, false};
    for (const matrix& x : {of_a, of_b, of_c}) x.check(row_major);
    if (how.batch > 1) {
      of_a.check_stride(row_major, true);
      of_b.check_stride(row_major, true);
      of_c.check_stride(row_major, false);
    }
    if (address(how.workspace) % kWorkspace != 0) {
      throw error(KZOO_INVALID_ARGUMENT, "the workspace is not aligned to 256 bytes");
    }
    if (how.device_scalars != 0) {
      throw error(KZOO_DEVICE_SCALARS, "alpha and beta must be in host memory");
    }
    require_pointer(alpha, "alpha");
    require_pointer(beta, "beta");
    if (how.workspace_needed != nullptr) *how.workspace_needed = 0;
    if (m == 0 || n == 0) return {};
    for (const matrix& x : {of_a, of_b, of_c}) {
      if (k > 0 || x.name == of_c.name) require_pointer(x.data, x.name);
    }
    if (k == 0) {
      if (scalar(beta, type_c) == 1) return {};
      throw error(KZOO_UNSUPPORTED, "k is 0, and no kernel multiplies C by beta alone");
    }
    return handle->run(as_row_major(of_a, of_b, of_c, c, k, {alpha, beta}, how));
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
  // No products, where kzoo_call's 0 is one.
  const std::int64_t rows = batch == 0 ? 0 : m;
  return kzoo_gemm_ex(handle, transa, transb, rows, n, k, alpha, a, KZOO_F32, lda, b, KZOO_F32, ldb,
                      beta, c, KZOO_F32, ldc, &call);
}

const char* kzoo_last_error(void) { return last_error.c_str(); }

const char* kzoo_last_kernel(void) {
  last_kernel_name = last_kernel.of == nullptr ? "" : last_kernel.name();
  return last_kernel_name.c_str();
}

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
                              named{KZOO_INVALID_TABLE, "KZOO_INVALID_TABLE"}};
  const auto* known = std::find_if(kNames.begin(), kNames.end(),
                                   [&](const named& n) { return n.status == status; });
  return known == kNames.end() ? "unknown status" : known->name;
}
}
