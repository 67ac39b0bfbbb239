// The part of PyTorch for host functions that take its tensors: a tensor that owns no memory,
// empty() and zeros(), the macros that check and dispatch, and the stream; no operators. Sources
// that the runner turns into plugins include it as <torch/extension.h>, <ATen/…> and <c10/…>.
#pragma once

#include <kzoo/tensor_calls.hpp>
#include <kzoo/tensor_types.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

// PyTorch's headers include these, and sources rely on it.
#include <cassert>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>

namespace at {

using namespace c10;

// A tensor as a kernel's parameter, with its sizes and strides: t[row][col].
template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
template <class T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};
template <class T, std::size_t kDims, class Index>
struct TensorAccessor {
  T* data;
  const Index* strides;

  __host__ __device__ decltype(auto) operator[](Index i) const {
    if constexpr (kDims == 1)
      return (data[i * strides[0]]);
    else
      return TensorAccessor<T, kDims - 1, Index>{data + i * strides[0], strides + 1};
  }
};
template <class T, std::size_t kDims, template <class> class Traits, class Index>
class GenericPackedTensorAccessor {
 public:
  GenericPackedTensorAccessor(T* data, const std::int64_t* sizes, const std::int64_t* strides)
      : data_(data) {
    for (std::size_t i = 0; i < kDims; ++i) {
      sizes_[i] = static_cast<Index>(sizes[i]);
      strides_[i] = static_cast<Index>(strides[i]);
    }
  }

  __host__ __device__ Index size(Index i) const { return sizes_[i]; }
  __host__ __device__ Index stride(Index i) const { return strides_[i]; }
  __host__ __device__ T* data() const { return data_; }
  __host__ __device__ decltype(auto) operator[](Index i) const {
    return TensorAccessor<T, kDims, Index>{data_, strides_}[i];
  }

 private:
  typename Traits<T>::PtrType data_;
  Index sizes_[kDims], strides_[kDims];
};
template <class T, std::size_t kDims, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, kDims, Traits, std::int32_t>;
template <class T, std::size_t kDims, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, kDims, Traits, std::int64_t>;

class Tensor {
 public:
  Tensor() = default;
  Tensor(void* data, ScalarType type, IntArrayRef sizes) : data_(data), type_(type) {
    set_sizes(sizes);
    std::int64_t next = 1;
    for (std::size_t i = count_; i-- > 0; next *= sizes_[i]) strides_[i] = next;
  }

  bool defined() const { return data_ != nullptr; }
  void* data_ptr() const {
    if (data_ == kzoo::tensors::session::no_memory() && !kzoo::tensors::here().is_dry)
      kzoo::tensors::fail("a tensor is kept from an earlier call, whose memory is gone");
    return data_;
  }
  void* mutable_data_ptr() const { return data_ptr(); }
  const void* const_data_ptr() const { return data_ptr(); }
  template <class T>
  T* data_ptr() const {
    using element = std::remove_const_t<T>;
    static_assert(scalar_type_of<element> != ScalarType::Undefined,
                  "data_ptr<T>(): T is no element type of PyTorch");
    if (type_ != scalar_type_of<element>)
      kzoo::tensors::fail("data_ptr: expected a tensor of ", scalar_type_of<element>,
                          ", and this is one of ", type_);
    return static_cast<T*>(data_ptr());
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<std::remove_const_t<T>>();
  }

  template <class T, std::size_t kDims, template <class> class Traits = DefaultPtrTraits>
  PackedTensorAccessor32<T, kDims, Traits> packed_accessor32() const {
    return accessor<PackedTensorAccessor32<T, kDims, Traits>>(data_ptr<T>(), kDims);
  }
  template <class T, std::size_t kDims, template <class> class Traits = DefaultPtrTraits>
  PackedTensorAccessor64<T, kDims, Traits> packed_accessor64() const {
    return accessor<PackedTensorAccessor64<T, kDims, Traits>>(data_ptr<T>(), kDims);
  }

  std::int64_t dim() const { return static_cast<std::int64_t>(count_); }
  std::int64_t ndimension() const { return dim(); }
  std::int64_t size(std::int64_t i) const { return sizes_[index(i)]; }
  std::int64_t stride(std::int64_t i) const { return strides_[index(i)]; }
  IntArrayRef sizes() const { return {sizes_.data(), count_}; }
  IntArrayRef strides() const { return {strides_.data(), count_}; }
  std::int64_t numel() const {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes()) count *= size;
    return count;
  }
  std::size_t element_size() const { return elementSize(type_); }
  std::size_t itemsize() const { return element_size(); }
  std::size_t nbytes() const { return kzoo::tensors::bytes_of(sizes(), type_); }

  ScalarType dtype() const { return type_; }
  ScalarType scalar_type() const { return type_; }
  tensor_type type() const { return {type_}; }
  Device device() const { return {}; }
  DeviceIndex get_device() const { return 0; }
  bool is_cuda() const { return true; }
  bool is_cpu() const { return false; }
  bool requires_grad() const { return false; }
  TensorOptions options() const { return {type_}; }

  bool is_contiguous() const {
    std::int64_t next = 1;
    for (std::size_t i = count_; i-- > 0; next *= sizes_[i])
      if (sizes_[i] != 1 && strides_[i] != next) return false;
    return true;
  }
  Tensor contiguous() const {
    if (is_contiguous()) return *this;
    kzoo::tensors::fail(
        "contiguous(): the tensor is a view whose elements do not follow each "
        "other, and operators of PyTorch are not available");
  }
  Tensor detach() const { return *this; }
  Tensor cuda() const { return *this; }

  Tensor transpose(std::int64_t i, std::int64_t j) const {
    Tensor view = *this;
    std::swap(view.sizes_[index(i)], view.sizes_[index(j)]);
    std::swap(view.strides_[index(i)], view.strides_[index(j)]);
    return view;
  }
  Tensor t() const { return transpose(0, 1); }
  Tensor view(IntArrayRef sizes) const {
    std::vector<std::int64_t> all = sizes.vec();
    std::int64_t known = 1;
    for (const std::int64_t size : all) known *= size < 0 ? 1 : size;
    for (std::int64_t& size : all)
      if (size < 0) size = known == 0 ? 0 : numel() / known;
    Tensor made(data_, type_, all);
    if (made.numel() != numel()) kzoo::tensors::fail("view: ", this->sizes(), " as ", sizes);
    contiguous();  // or throws
    return made;
  }
  Tensor reshape(IntArrayRef sizes) const { return view(sizes); }
  const Tensor& zero_() const {
    kzoo::tensors::fill(contiguous().data_ptr(), 0, nbytes());
    return *this;
  }

 private:
  static constexpr std::size_t kMost = 8;

  void set_sizes(IntArrayRef sizes) {
    if (sizes.size() > kMost) kzoo::tensors::fail("a tensor of ", sizes.size(), " dimensions");
    count_ = sizes.size();
    std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  }
  template <class Accessor, class T>
  Accessor accessor(T* data, std::size_t dims) const {
    if (dims != count_) kzoo::tensors::fail("an accessor for a tensor of ", dims, " dimensions");
    return {data, sizes_.data(), strides_.data()};
  }
  std::size_t index(std::int64_t i) const {
    const std::int64_t from_begin = i < 0 ? i + dim() : i;
    if (from_begin < 0 || from_begin >= dim())
      kzoo::tensors::fail("dimension ", i, " of a tensor of ", dim(), " dimensions");
    return static_cast<std::size_t>(from_begin);
  }

  void* data_ = nullptr;
  ScalarType type_{};
  std::size_t count_ = 0;
  std::array<std::int64_t, kMost> sizes_{}, strides_{};
};

inline constexpr DeviceType kCUDA = DeviceType::CUDA, kCPU = DeviceType::CPU;
inline constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = kByte, kChar = ScalarType::Char,
                            kInt8 = kChar, kShort = ScalarType::Short, kInt16 = kShort,
                            kInt = ScalarType::Int, kInt32 = kInt, kLong = ScalarType::Long,
                            kInt64 = kLong, kHalf = ScalarType::Half, kFloat16 = kHalf,
                            kFloat = ScalarType::Float, kFloat32 = kFloat,
                            kDouble = ScalarType::Double, kFloat64 = kDouble,
                            kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16,
                            kFloat8_e4m3fn = ScalarType::Float8_e4m3fn,
                            kFloat8_e5m2 = ScalarType::Float8_e5m2;

inline TensorOptions dtype(ScalarType type) { return {type}; }
inline TensorOptions device(Device device) { return device; }

inline Tensor empty(IntArrayRef sizes, const TensorOptions& options = {}) {
  if (options.device().is_cpu())
    kzoo::tensors::fail("a tensor in host memory is asked for, and a run has device memory alone");
  return {kzoo::tensors::here().take(sizes, options.type()), options.type(), sizes};
}
inline Tensor zeros(IntArrayRef sizes, const TensorOptions& options = {}) {
  return empty(sizes, options).zero_();
}
inline Tensor empty_like(const Tensor& like, const TensorOptions& options) {
  return empty(like.sizes(), options);
}
inline Tensor empty_like(const Tensor& like) { return empty_like(like, like.options()); }
inline Tensor zeros_like(const Tensor& like, const TensorOptions& options) {
  return zeros(like.sizes(), options);
}
inline Tensor zeros_like(const Tensor& like) { return zeros_like(like, like.options()); }

inline std::optional<Device> device_of(const Tensor& t) { return t.device(); }

}  // namespace at

namespace torch {
using namespace at;
template <class Function>
Function* wrap_pybind_function(Function* f) {
  return f;
}
}  // namespace torch

namespace c10::cuda {

struct CUDAStream {
  kzoo::stream_t given;
  kzoo::stream_t stream() const { return given; }
  operator kzoo::stream_t() const { return given; }
};
inline CUDAStream getCurrentCUDAStream(DeviceIndex = -1) { return {kzoo::tensors::here().stream}; }
inline CUDAStream getDefaultCUDAStream(DeviceIndex = -1) { return getCurrentCUDAStream(); }

// There is one device, and it is current.
struct CUDAGuard {
  template <class Which>
  explicit CUDAGuard(const Which&) {}
};
using OptionalCUDAGuard = CUDAGuard;

}  // namespace c10::cuda

namespace at {
namespace cuda {
using namespace c10::cuda;
}
struct OptionalDeviceGuard : c10::cuda::CUDAGuard {
  using CUDAGuard::CUDAGuard;
};
using DeviceGuard = OptionalDeviceGuard;
}  // namespace at

// Names that bindings use.
namespace pybind11 {
struct arg {
  explicit arg(const char*) {}
  template <class Value>
  arg& operator=(Value&&) {
    return *this;
  }
};
struct none {};
}  // namespace pybind11
namespace py = pybind11;

#define KZOO_PASTED(A, B) A##B
#define KZOO_NAMED(NAME, LINE) KZOO_PASTED(NAME, LINE)
// Bindings are compiled as templates without instances.
#define KZOO_BINDINGS(MODULE)    \
  template <class kzoo_bindings> \
  [[maybe_unused]] static void KZOO_NAMED(kzoo_bindings_, __LINE__)(kzoo_bindings & MODULE)
#define PYBIND11_MODULE(NAME, MODULE) KZOO_BINDINGS(MODULE)
#define TORCH_LIBRARY(NAME, MODULE) KZOO_BINDINGS(MODULE)
#define TORCH_LIBRARY_FRAGMENT(NAME, MODULE) KZOO_BINDINGS(MODULE)
#define TORCH_LIBRARY_IMPL(NAME, DISPATCH, MODULE) KZOO_BINDINGS(MODULE)
#define TORCH_FN(FUNCTION) &FUNCTION

#define TORCH_CHECK(CONDITION, ...)                                                         \
  do {                                                                                      \
    if (!(CONDITION)) ::kzoo::tensors::check_failed(#CONDITION __VA_OPT__(, ) __VA_ARGS__); \
  } while (0)
#define TORCH_INTERNAL_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ASSERTM(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ERROR(...) ::kzoo::tensors::fail(__VA_ARGS__)

#define C10_CUDA_CHECK(CALL) TORCH_CHECK((CALL) == cudaSuccess, #CALL " failed")
#define AT_CUDA_CHECK(CALL) C10_CUDA_CHECK(CALL)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(::kzoo::tensors::cudaGetLastError())

#define KZOO_DISPATCHED(TYPE, NAME, ...)                                           \
  [&] {                                                                            \
    const ::at::ScalarType kzoo_type = TYPE;                                       \
    switch (kzoo_type) {                                                           \
      __VA_ARGS__                                                                  \
      default: ::kzoo::tensors::fail(NAME, " is not implemented for ", kzoo_type); \
    }                                                                              \
  }()
#define KZOO_CASE(TYPE, ...)                                               \
  case TYPE: {                                                             \
    using scalar_t [[maybe_unused]] = typename ::at::cpp_type<TYPE>::type; \
    return __VA_ARGS__();                                                  \
  }
#define KZOO_FLOATING(...)                        \
  KZOO_CASE(::at::ScalarType::Float, __VA_ARGS__) \
  KZOO_CASE(::at::ScalarType::Double, __VA_ARGS__)
#define KZOO_REDUCED(...)                        \
  KZOO_CASE(::at::ScalarType::Half, __VA_ARGS__) \
  KZOO_CASE(::at::ScalarType::BFloat16, __VA_ARGS__)
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...) KZOO_DISPATCHED(TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_CASE(TYPE, ...) KZOO_CASE(TYPE, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  KZOO_DISPATCHED(TYPE, NAME, KZOO_FLOATING(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
  AT_DISPATCH_FLOATING_TYPES_AND(::at::ScalarType::Half, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(OTHER, TYPE, NAME, ...) \
  KZOO_DISPATCHED(TYPE, NAME, KZOO_FLOATING(__VA_ARGS__) KZOO_CASE(OTHER, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(FIRST, SECOND, TYPE, NAME, ...)    \
  KZOO_DISPATCHED(TYPE, NAME,                                              \
                  KZOO_FLOATING(__VA_ARGS__) KZOO_CASE(FIRST, __VA_ARGS__) \
                      KZOO_CASE(SECOND, __VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...) \
  KZOO_DISPATCHED(TYPE, NAME, KZOO_REDUCED(__VA_ARGS__))
