#include "loaded_kernel.hpp"

#include "tensor_maps.hpp"

#include <kzoo/error.hpp>
#include <kzoo/launch.hpp>
#include <kzoo/type_names.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace kzoo::manifest {
namespace {

std::string words(cudaError_t status) {
  cudaGetLastError();  // reported here; must not appear as the failure of a later call
  return std::string(cudaGetErrorName(status)) + " (" + cudaGetErrorString(status) + ")";
}

// The bytes of a parameter; a tensor map is the largest.
struct alignas(64) parameter {
  std::byte bytes[sizeof(CUtensorMap)];
  std::size_t size = 0;

  template <class T>
  explicit parameter(const T& value) : size(sizeof value) {
    static_assert(sizeof value <= sizeof bytes);
    std::memcpy(bytes, &value, sizeof value);
  }
};

number_type type_of(const argument& a, kzoo_type c) {
  if (a.type != number_type::accumulator) return a.type;
  return c == KZOO_F64 ? number_type::f64 : c == KZOO_I32 ? number_type::i32 : number_type::f32;
}

template <class Number>
parameter as_parameter(number_type type, Number number) {
  switch (type) {
    case number_type::i8: return parameter(static_cast<std::int8_t>(number));
    case number_type::i16: return parameter(static_cast<std::int16_t>(number));
    case number_type::i32: return parameter(static_cast<std::int32_t>(number));
    case number_type::i64: return parameter(static_cast<std::int64_t>(number));
    case number_type::f16: return parameter(__half(static_cast<float>(number)));
    case number_type::bf16: return parameter(__nv_bfloat16(static_cast<float>(number)));
    case number_type::f64: return parameter(static_cast<double>(number));
    default: return parameter(static_cast<float>(number));
  }
}

// "'a', 'b'": the names of the kernels in the file.
std::string names_in(cudaLibrary_t library) {
  unsigned count = 0;
  cudaLibraryGetKernelCount(&count, library);
  std::vector<cudaKernel_t> kernels(count);
  cudaLibraryEnumerateKernels(kernels.data(), count, library);
  std::string names;
  for (const cudaKernel_t kernel : kernels) {
    const char* name = nullptr;
    if (cudaFuncGetName(&name, static_cast<const void*>(kernel)) != cudaSuccess) continue;
    names += (names.empty() ? "'" : ", '") + std::string(name) + "'";
  }
  cudaGetLastError();
  return names.empty() ? "none" : names;
}

void clear_c(const kzoo_problem& p, const kzoo_arguments& args) {
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::size_t>(elements * type_bytes(p.type_c));
  };
  for (std::int64_t product = 0; product < std::max<std::int64_t>(1, p.batch); ++product) {
    const cudaError_t status = cudaMemset2DAsync(
        static_cast<char*>(args.c) + bytes(product * p.stride_c), bytes(p.ldc), 0, bytes(p.n),
        static_cast<std::size_t>(p.m), static_cast<cudaStream_t>(args.stream));
    if (status != cudaSuccess) throw error(KZOO_ERROR, words(status));
  }
}

}  // namespace

loaded_kernel::loaded_kernel(const kernel_manifest& m, const kernel_variant& v,
                             const std::string& kernels, const kzoo_problem& p,
                             const kzoo_device& d)
    : manifest_(m), variant_(v), problem_(p), plan_(plan_launch(v, p, d)) {
  cudaLibrary_t library = nullptr;
  cudaError_t status =
      cudaLibraryLoadData(&library, kernels.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  const std::string device = "sm_" + std::to_string(d.compute_capability);
  if (status != cudaSuccess) {
    throw error(KZOO_UNAVAILABLE,
                m.kernel + " cannot be loaded on " + device + ": " + words(status));
  }
  library_.reset(library);
  status = cudaLibraryGetKernel(&kernel_, library, v.entry.c_str());
  if (status == cudaErrorSymbolNotFound) {
    throw error(KZOO_ERROR, m.kernel + " has no kernel '" + v.entry +
                                "'; those in it: " + names_in(library) +
                                " (extern \"C\" keeps a name as it is written)");
  }
  if (status != cudaSuccess) {
    throw error(KZOO_UNAVAILABLE, m.kernel + " has no code for " + device + ": " + words(status));
  }
  check_parameters(m.kernel);
  allow_what_it_needs();
}

void loaded_kernel::check_parameters(const std::string& file) const {
  const std::vector<argument>& given = variant_.arguments;
  std::size_t offset = 0, bytes = 0, count = 0;
  while (cudaFuncGetParamInfo(function(), count, &offset, &bytes) == cudaSuccess) {
    if (count < given.size()) {
      const argument& a = given[count];
      const bool number = a.kind == argument_kind::alpha || a.kind == argument_kind::beta ||
                          a.kind == argument_kind::value;
      const std::size_t own = a.kind == argument_kind::tensor_map ? sizeof(CUtensorMap)
                              : number ? as_parameter(type_of(a, variant_.type_c), 0).size
                                       : sizeof(void*);
      if (own != bytes) {
        throw error(KZOO_ERROR,
                    "parameter " + std::to_string(count + 1) + " of '" + variant_.entry + "' in " +
                        file + " has " + std::to_string(bytes) +
                        " bytes, and the argument that the manifest gives it " +
                        std::to_string(own) + "; i32 and f32 have 4, i64, f64 and pointers 8");
      }
    }
    ++count;
  }
  cudaGetLastError();
  if (count != given.size()) {
    throw error(KZOO_ERROR, "'" + variant_.entry + "' in " + file + " has " +
                                std::to_string(count) + " parameters, and the manifest gives it " +
                                std::to_string(given.size()) + " arguments");
  }
}

void loaded_kernel::allow_what_it_needs() const {
  constexpr std::size_t kWithoutAsking = 48 << 10;
  constexpr std::uint32_t kPortableCluster = 8;
  if (plan_.dynamic_shared > kWithoutAsking)
    detail::allow_dynamic_shared(function(), plan_.dynamic_shared);
  const auto& cluster = variant_.cluster;
  if (cluster[0] * cluster[1] * cluster[2] > kPortableCluster) {
    cudaFuncSetAttribute(function(), cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    cudaGetLastError();  // if it is not allowed, the launch reports it
  }
}

void loaded_kernel::launch(const kzoo_arguments& args) const {
  const auto value_of = [&](const argument& a, std::size_t index) {
    const double scales = (problem_.scale_a == 0 ? 1 : problem_.scale_a) *
                          (problem_.scale_b == 0 ? 1 : problem_.scale_b);
    switch (a.kind) {
      case argument_kind::a: return parameter(args.a);
      case argument_kind::b: return parameter(args.b);
      case argument_kind::c: return parameter(args.c);
      case argument_kind::workspace: return parameter(args.workspace);
      case argument_kind::operand: return parameter(args.operands[a.map]);
      case argument_kind::null: return parameter(static_cast<void*>(nullptr));
      case argument_kind::alpha:
        return as_parameter(type_of(a, variant_.type_c), problem_.alpha * scales);
      case argument_kind::beta: return as_parameter(type_of(a, variant_.type_c), problem_.beta);
      case argument_kind::value: return as_parameter(a.type, plan_.values[index]);
      default: return parameter(make_tensor_map(manifest_.maps[a.map], problem_, args));
    }
  };
  std::vector<parameter> parameters;
  parameters.reserve(variant_.arguments.size());
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < variant_.arguments.size(); ++i) {
    parameters.push_back(value_of(variant_.arguments[i], i));
    pointers.push_back(parameters.back().bytes);
  }
  if (variant_.reads_c && problem_.beta == 0) clear_c(problem_, args);
  const auto dims = [](const std::array<std::uint32_t, 3>& of) {
    return dim3(of[0], of[1], of[2]);
  };
  detail::launch_pointers({.grid = dims(plan_.grid),
                           .block = dims(plan_.block),
                           .dynamic_shared = plan_.dynamic_shared,
                           .stream = static_cast<cudaStream_t>(args.stream),
                           .cluster = dims(variant_.cluster)},
                          function(), pointers.data());
}

}  // namespace kzoo::manifest
