// What a function of the host that takes tensors of PyTorch needs of PyTorch: a tensor that owns no
// memory, empty() and zeros(), the macros that check and dispatch, and the stream. Sources for
// which the runner makes a plugin of such a function find it as <torch/extension.h>, <ATen/…> and
// <c10/…>. Operators of PyTorch are not here.
//
// The function is called with a session: the stream and the memory of one run. The memory of C is
// that of the first tensor of its shape and type that is made; others come from the workspace. In a
// session that is dry nothing has memory and nothing is launched: it finds out how much memory
// there has to be, and whether the function takes the problem.
#pragma once

#include <kzoo/abi.h>
#include <kzoo/cuda.hpp>
#include <kzoo/error.hpp>
#include <kzoo/launch.hpp>

#if defined(KZOO_REAL_CUDA)
#include <cuda_runtime.h>
#else
#include <kzoo/sim/cuda_headers/cuda_runtime.h>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace c10 {

enum class ScalarType : std::int8_t {
  Undefined,
  Byte,
  Char,
  Short,
  Int,
  Long,
  Half,
  Float,
  Double,
  Bool,
  BFloat16,
  Float8_e4m3fn,
  Float8_e5m2
};
using Half = __half;
using BFloat16 = __nv_bfloat16;
using Float8_e4m3fn = __nv_fp8_e4m3;
using Float8_e5m2 = __nv_fp8_e5m2;
enum class DeviceType : std::int8_t { CPU, CUDA };
using DeviceIndex = std::int8_t;

template <ScalarType kType>
struct cpp_type {
  using type = void;
};
template <class T>
inline constexpr ScalarType scalar_type_of = ScalarType::Undefined;
#define KZOO_SCALAR_TYPE(CPP, NAME)   \
  template <>                         \
  struct cpp_type<ScalarType::NAME> { \
    using type = CPP;                 \
  };                                  \
  template <>                         \
  inline constexpr ScalarType scalar_type_of<CPP> = ScalarType::NAME
KZOO_SCALAR_TYPE(std::uint8_t, Byte);
KZOO_SCALAR_TYPE(std::int8_t, Char);
KZOO_SCALAR_TYPE(std::int16_t, Short);
KZOO_SCALAR_TYPE(std::int32_t, Int);
KZOO_SCALAR_TYPE(std::int64_t, Long);
KZOO_SCALAR_TYPE(Half, Half);
KZOO_SCALAR_TYPE(float, Float);
KZOO_SCALAR_TYPE(double, Double);
KZOO_SCALAR_TYPE(bool, Bool);
KZOO_SCALAR_TYPE(BFloat16, BFloat16);
KZOO_SCALAR_TYPE(Float8_e4m3fn, Float8_e4m3fn);
KZOO_SCALAR_TYPE(Float8_e5m2, Float8_e5m2);
#undef KZOO_SCALAR_TYPE

inline const char* toString(ScalarType type) {
  constexpr std::array kNames{"Undefined", "Byte",          "Char",       "Short",  "Int",
                              "Long",      "Half",          "Float",      "Double", "Bool",
                              "BFloat16",  "Float8_e4m3fn", "Float8_e5m2"};
  return kNames[static_cast<std::size_t>(type)];
}
inline std::ostream& operator<<(std::ostream& out, ScalarType type) {
  return out << toString(type);
}
inline std::size_t elementSize(ScalarType type) {
  constexpr std::array<std::size_t, 13> kBytes{0, 1, 1, 2, 4, 8, 2, 4, 8, 1, 2, 1, 1};
  return kBytes[static_cast<std::size_t>(type)];
}

struct Device {
  DeviceType kind = DeviceType::CUDA;
  DeviceIndex number = 0;

  Device(DeviceType type = DeviceType::CUDA, DeviceIndex index = 0) : kind(type), number(index) {}
  DeviceType type() const { return kind; }
  DeviceIndex index() const { return number; }
  bool is_cuda() const { return kind == DeviceType::CUDA; }
  bool is_cpu() const { return kind == DeviceType::CPU; }
  bool operator==(const Device&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Device& d) {
  return out << (d.is_cuda() ? "cuda" : "cpu");
}

// Sizes or strides, which another object holds.
class IntArrayRef {
 public:
  IntArrayRef() = default;
  IntArrayRef(const std::int64_t* first, std::size_t count) : first_(first), count_(count) {}
  // Of a list that lives as long as the call that it is given to.
  IntArrayRef(const std::initializer_list<std::int64_t>& list)
      : IntArrayRef(list.begin(), list.size()) {}
  IntArrayRef(const std::vector<std::int64_t>& list) : first_(list.data()), count_(list.size()) {}
  template <std::size_t kCount>
  IntArrayRef(const std::array<std::int64_t, kCount>& list) : first_(list.data()), count_(kCount) {}

  const std::int64_t* begin() const { return first_; }
  const std::int64_t* end() const { return first_ + count_; }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const std::int64_t& operator[](std::size_t i) const { return first_[i]; }
  const std::int64_t& front() const { return first_[0]; }
  const std::int64_t& back() const { return first_[count_ - 1]; }
  std::vector<std::int64_t> vec() const { return {begin(), end()}; }
  bool operator==(const IntArrayRef& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  const std::int64_t* first_ = nullptr;
  std::size_t count_ = 0;
};
inline std::ostream& operator<<(std::ostream& out, IntArrayRef list) {
  out << '[';
  for (std::size_t i = 0; i < list.size(); ++i) out << (i == 0 ? "" : ", ") << list[i];
  return out << ']';
}

// Of which only the element type counts: all tensors are on the device of the run.
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType type) : type_(type) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType device) : device_(device) {}

  TensorOptions dtype(ScalarType type) const { return with(type, device_); }
  TensorOptions device(Device device) const { return with(type_, device); }
  TensorOptions device(DeviceType device, DeviceIndex index = 0) const {
    return with(type_, {device, index});
  }
  TensorOptions requires_grad(bool = true) const { return *this; }
  ScalarType type() const { return type_; }
  Device device() const { return device_; }

 private:
  static TensorOptions with(ScalarType type, Device device) {
    TensorOptions all(type);
    all.device_ = device;
    return all;
  }

  ScalarType type_ = ScalarType::Float;
  Device device_;
};

template <class T>
using optional = std::optional<T>;
inline constexpr std::nullopt_t nullopt = std::nullopt;

}  // namespace c10

namespace kzoo::tensors {

using c10::IntArrayRef;
using c10::ScalarType;

template <class... Words>
std::string text_of(const Words&... words) {
  std::ostringstream out;
  (out << ... << words);
  return out.str();
}
template <class... Words>
[[noreturn]] void fail(const Words&... words) {
  throw error(KZOO_ERROR, text_of(words...));
}
template <class... Words>
[[noreturn]] void check_failed(const char* condition, const Words&... words) {
  if constexpr (sizeof...(Words) == 0)
    fail("TORCH_CHECK(", condition, ") failed");
  else
    fail(words...);
}

inline ScalarType scalar_type(kzoo_type type) {
  using enum ScalarType;
  constexpr std::array kTypes{Undefined, Float, Half,          BFloat16,    Int,
                              Double,    Char,  Float8_e4m3fn, Float8_e5m2, Undefined};
  static_assert(kTypes.size() == KZOO_I4 + 1);
  return kTypes.at(type);
}

inline std::size_t bytes_of(IntArrayRef sizes, ScalarType type) {
  std::size_t bytes = c10::elementSize(type);
  for (const std::int64_t size : sizes) {
    if (size < 0) fail("a tensor of sizes ", sizes);
    bytes *= static_cast<std::size_t>(size);
  }
  return bytes;
}

// One call of the function. In one that is dry addresses mean nothing.
struct session {
  bool is_dry = false;
  stream_t stream{};
  unsigned char* workspace = nullptr;
  std::size_t capacity = 0, used = 0;  // bytes of the workspace
  void* c = nullptr;                   // until a tensor has it
  std::array<std::int64_t, 2> sizes_of_c{};
  ScalarType type_of_c{};

  // Memory that is not initialised.
  void* take(IntArrayRef sizes, ScalarType type) {
    if (c != nullptr && type == type_of_c && sizes == IntArrayRef(sizes_of_c))
      return std::exchange(c, nullptr);
    constexpr std::size_t kAligned = 256;
    const std::size_t begin = used;
    used += (bytes_of(sizes, type) + kAligned - 1) / kAligned * kAligned;
    if (is_dry) return no_memory();
    if (used > capacity) fail("its tensors need more memory than in its first call");
    return workspace + begin;
  }
  static void* no_memory() { return reinterpret_cast<void*>(std::uintptr_t{4096}); }
};
inline thread_local session* current = nullptr;

// Function attributes that a dry call sets, for the runs after it: the function may set them once.
class later {
 public:
  static void add(std::function<void()> set) {
    const std::lock_guard lock(mutex());
    list().push_back(std::move(set));
  }
  static void now() {
    const std::lock_guard lock(mutex());
    for (; !list().empty(); list().erase(list().begin())) list().front()();
  }

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  static std::vector<std::function<void()>>& list() {
    static std::vector<std::function<void()>> l;
    return l;
  }
};

inline session& here() {
  if (current == nullptr) fail("a tensor is made, or a kernel is started, outside of the function");
  return *current;
}

#if defined(KZOO_REAL_CUDA)
inline void must(cudaError_t status) {
  if (status == cudaSuccess) return;
  const std::string text = cudaGetErrorString(status);
  cudaGetLastError();  // reported here
  throw error(KZOO_ERROR, text);
}
#endif

// On the stream of the run.
inline void fill(void* at, int value, std::size_t bytes) {
  if (here().is_dry) return;
#if defined(KZOO_REAL_CUDA)
  must(::cudaMemsetAsync(at, value, bytes, here().stream));
#else
  std::memset(at, value, bytes);
#endif
}
inline void copy(void* to, const void* from, std::size_t bytes) {
  if (here().is_dry) return;
#if defined(KZOO_REAL_CUDA)
  must(::cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, here().stream));
#else
  std::memcpy(to, from, bytes);
#endif
}

// The stream that is meant where CUDA's default one is named.
inline stream_t stream_for(stream_t named) {
  constexpr std::uintptr_t kLastDefault = 2;  // cudaStreamPerThread
  return reinterpret_cast<std::uintptr_t>(named) <= kLastDefault ? here().stream : named;
}

inline launch_config config_of(dim3 grid, dim3 block, std::size_t shared = 0,
                               stream_t stream = {}) {
  return {.grid = grid, .block = block, .dynamic_shared = shared, .stream = stream_for(stream)};
}

#if !defined(KZOO_REAL_CUDA)
// The most dynamic shared memory that the function allowed some kernel: one that is started as a
// call may have it, too.
inline std::size_t most_shared = 0;
#endif

// Starts a kernel, by its address or as a call.
struct starter {
  launch_config config;

  template <class... P, class... A>
  requires(sizeof...(P) == sizeof...(A)) &&
      (std::is_constructible_v<P, A&> && ...) void operator()(void (*kernel)(P...),
                                                              A&... given) const {
    kzoo::launch(config, kernel, given...);
  }

#if !defined(KZOO_REAL_CUDA)
  template <class Call>
  static void call_it(const Call* call) {
    (*call)();
  }
  template <class Call>
  void call(const Call& c) const {
    if (config.dynamic_shared > 0 && config.dynamic_shared <= most_shared)
      allow_dynamic_shared(&call_it<Call>, most_shared);
    kzoo::launch(config, &call_it<Call>, &c);
  }
#endif
};

// `start`: a function that starts a kernel by the starter, with the values that it gets.
template <class Start, class... A>
void launch(const launch_config& config, const Start& start, A&&... given) {
  if (!here().is_dry) start(starter{config}, given...);
}

// The body of `start`, a generic lambda. The kernel may be a template whose arguments the values
// say, which has no address before it is called.
#if defined(KZOO_REAL_CUDA)
#define KZOO_CALLED(...)                                                           \
  {                                                                                \
    __VA_ARGS__<<<kzoo_launch.config.grid, kzoo_launch.config.block,               \
                  kzoo_launch.config.dynamic_shared, kzoo_launch.config.stream>>>( \
        kzoo_argument...);                                                         \
    ::kzoo::tensors::must(::cudaGetLastError());                                   \
  }
#else
#define KZOO_CALLED(...) kzoo_launch.call([&] { __VA_ARGS__(kzoo_argument...); });
#endif
#define KZOO_LAUNCHED(...)                                                  \
  {                                                                         \
    if constexpr (requires { kzoo_launch(__VA_ARGS__, kzoo_argument...); }) \
      kzoo_launch(__VA_ARGS__, kzoo_argument...);                           \
    else                                                                    \
      KZOO_CALLED(__VA_ARGS__)                                              \
  }

// What calls of CUDA's runtime in the source become. Nothing waits: what follows on the stream
// does.
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(stream_t) { return cudaSuccess; }
inline cudaError_t cudaMemsetAsync(void* at, int value, std::size_t bytes, stream_t = {}) {
  fill(at, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void* at, int value, std::size_t bytes) {
  return cudaMemsetAsync(at, value, bytes);
}
template <class Kind>
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, Kind, stream_t = {}) {
  copy(to, from, bytes);
  return cudaSuccess;
}
template <class Kind>
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, Kind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind);
}
#if defined(KZOO_REAL_CUDA)
using ::cudaGetErrorName;
using ::cudaGetErrorString;
inline cudaError_t cudaGetLastError() { return here().is_dry ? cudaSuccess : ::cudaGetLastError(); }
inline cudaError_t cudaPeekAtLastError() {
  return here().is_dry ? cudaSuccess : ::cudaPeekAtLastError();
}
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute what, int value) {
  const auto set = [=] {
    return ::cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), what, value);
  };
  if (!here().is_dry) return set();
  later::add([=] { must(set()); });
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaLaunchKernel(Kernel* kernel, dim3 grid, dim3 block, void** given,
                             std::size_t shared = 0, cudaStream_t stream = nullptr) {
  if (here().is_dry) return cudaSuccess;
  return ::cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, given, shared,
                            stream_for(stream));
}
template <class Kernel>
cudaError_t cudaLaunchCooperativeKernel(Kernel* kernel, dim3 grid, dim3 block, void** given,
                                        std::size_t shared = 0, cudaStream_t stream = nullptr) {
  if (here().is_dry) return cudaSuccess;
  return ::cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), grid, block, given,
                                       shared, stream_for(stream));
}
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...),
                               A&&... given) {
  if (here().is_dry) return cudaSuccess;
  cudaLaunchConfig_t on_stream = *config;
  on_stream.stream = stream_for(config->stream);
  return ::cudaLaunchKernelEx(&on_stream, kernel, std::forward<A>(given)...);
}
#else
inline cudaError_t cudaGetLastError() { return cudaSuccess; }  // a launch that fails throws
inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "no error"; }
inline const char* cudaGetErrorName(cudaError_t) { return "cudaSuccess"; }
template <class... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), int what, int bytes) {
  constexpr int kDynamicShared = 8;  // cudaFuncAttributeMaxDynamicSharedMemorySize
  if (what != kDynamicShared) return cudaSuccess;
  const auto set = [kernel, most = static_cast<std::size_t>(bytes)] {
    allow_dynamic_shared(kernel, most);
    most_shared = std::max(most_shared, most);
  };
  if (here().is_dry)
    later::add(set);
  else
    set();
  return cudaSuccess;
}
#endif

}  // namespace kzoo::tensors

#if !defined(KZOO_REAL_CUDA)
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaMemcpyKind { cudaMemcpyDeviceToDevice = 3, cudaMemcpyDefault = 4 };
#endif

namespace at {

using namespace c10;

// How a kernel gets a tensor as a parameter, with its sizes and strides: t[row][col].
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
  ScalarType type() const { return type_; }
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

// What bindings mention.
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
// Bindings are compiled as templates, of which nothing is made.
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

#define KZOO_DISPATCHED(TYPE, NAME, ...)                                    \
  [&] {                                                                     \
    const ::at::ScalarType kzoo_type = TYPE;                                \
    switch (kzoo_type) {                                                    \
      __VA_ARGS__                                                           \
      default:                                                              \
        ::kzoo::tensors::fail(NAME, " is not implemented for ", kzoo_type); \
    }                                                                       \
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
