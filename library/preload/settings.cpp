#include "settings.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace kzoo::preload {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// nullptr where it is not set.
const char* text(const char* name) { return variable(name).empty() ? nullptr : std::getenv(name); }

// Which of two words it is, the first by default.
bool is_second(const char* name, std::string_view first, std::string_view second) {
  const std::string_view value = variable(name);
  if (value != "" && value != first && value != second) {
    throw std::invalid_argument(std::string(name) + " is '" + std::string(value) +
                                "', and should be '" + std::string(first) + "' or '" +
                                std::string(second) + "'");
  }
  return value == second;
}

// Chooses by a model of times. What else is faster than cuBLAS only a table or a person says.
constexpr const char* kDispatch = "dispatch:fp32_split,dispatch:fp32";
// What a chosen kernel means for which cuBLAS itself is called.
constexpr const char* kCublas = "cublas,cublaslt";

}  // namespace

bool on_cpu() { return variable("KZOO_BLAS_DEVICE") == "cpu"; }
bool is_verbose() { return variable("KZOO_BLAS_VERBOSE") == "1"; }
const char* recording_file() { return text("KZOO_BLAS_RECORD"); }
bool records_alone() {
  // Asked for each call.
  static const bool alone = recording_file() != nullptr && text("KZOO_BLAS_TUNED") == nullptr &&
                            text("KZOO_BLAS_KERNELS") == nullptr;
  return alone;
}

opened open_zoo() {
  try {
    kzoo_options options{};
    options.struct_size = sizeof options;
    options.device = is_second("KZOO_BLAS_DEVICE", "cuda", "cpu") ? KZOO_CPU : KZOO_CUDA;
    options.precision = is_second("KZOO_BLAS_PRECISION", "fp32", "fp32_split")
                            ? KZOO_COMPUTE_FP32_SPLIT
                            : KZOO_COMPUTE_FP32;
    options.plugins = text("KZOO_BLAS_PLUGINS");
    options.tuned = text("KZOO_BLAS_TUNED");
    options.declined = kCublas;
    options.kernels = text("KZOO_BLAS_KERNELS");
    const bool named = options.kernels != nullptr;
    if (!named) options.kernels = kDispatch;
    opened all;
    all.by_dispatch = !named && options.tuned == nullptr;
    kzoo_status status = kzoo_create(&all.handle, &options);
    if (status == KZOO_UNAVAILABLE && !named && options.tuned != nullptr) {
      options.kernels = kCublas;  // for what is not in the table
      status = kzoo_create(&all.handle, &options);
    }
    if (status == KZOO_OK) return all;
    all.why_not = kzoo_last_error();
    if (status == KZOO_UNAVAILABLE && all.by_dispatch) {
      all.why_not += "; KZOO_BLAS_TUNED or KZOO_BLAS_KERNELS can say what is to be used instead";
    }
    return all;
  } catch (const std::exception& e) {
    return {nullptr, e.what(), false};
  }
}

}  // namespace kzoo::preload
