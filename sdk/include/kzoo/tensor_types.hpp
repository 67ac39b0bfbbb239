// PyTorch's descriptions of a tensor: element type, device, sizes and strides.
#pragma once

#include <kzoo/cuda.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <string_view>
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
  Device(std::string_view name)
      : Device(name.starts_with("cpu") ? DeviceType::CPU : DeviceType::CUDA) {}
  Device(const char* name) : Device(std::string_view(name)) {}
  DeviceType type() const { return kind; }
  DeviceIndex index() const { return number; }
  bool is_cuda() const { return kind == DeviceType::CUDA; }
  bool is_cpu() const { return kind == DeviceType::CPU; }
  bool operator==(const Device&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Device& d) {
  return out << (d.is_cuda() ? "cuda" : "cpu");
}

// A view of sizes or strides; another object owns them.
class IntArrayRef {
 public:
  IntArrayRef() = default;
  IntArrayRef(const std::int64_t* first, std::size_t count) : first_(first), count_(count) {}
  // The list must outlive this view: pass it within one call.
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

// Only the element type matters: all tensors are on the device of the run.
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
  ScalarType dtype() const { return type_; }
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

inline std::ostream& operator<<(std::ostream& out, const TensorOptions& options) {
  return out << options.dtype() << " on " << options.device();
}

// The result of Tensor::type(), which older sources ask for more than the element type.
struct tensor_type {
  ScalarType scalar{};
  operator ScalarType() const { return scalar; }
  ScalarType scalarType() const { return scalar; }
  bool is_cuda() const { return true; }
};

template <class T>
using optional = std::optional<T>;
inline constexpr std::nullopt_t nullopt = std::nullopt;

}  // namespace c10
