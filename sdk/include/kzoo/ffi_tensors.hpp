// The part of tvm-ffi for host functions that take its tensors: views of tensors, checks, and the
// stream. Sources that the runner turns into plugins include it as <tvm/ffi/…>.
#pragma once

#include <kzoo/tensors.hpp>

#include <cstdint>
#include <sstream>

enum DLDeviceType { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3 };
enum DLDataTypeCode {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLBool = 6,
  kDLFloat8_e4m3fn = 10,
  kDLFloat8_e5m2 = 12
};
struct DLDevice {
  DLDeviceType device_type;
  std::int32_t device_id;
};
struct DLDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
  bool operator==(const DLDataType&) const = default;
};
using TVMFFIStreamHandle = void*;

inline TVMFFIStreamHandle TVMFFIEnvGetStream(std::int32_t, std::int32_t) {
  return kzoo::tensors::here().stream;
}

namespace tvm::ffi {

// Sizes or strides.
struct ShapeView : c10::IntArrayRef {
  using IntArrayRef::IntArrayRef;
  ShapeView(c10::IntArrayRef list) : IntArrayRef(list) {}
  std::int64_t Product() const {
    std::int64_t product = 1;
    for (const std::int64_t size : *this) product *= size;
    return product;
  }
};
using Shape = ShapeView;

inline DLDataType data_type(c10::ScalarType type) {
  using enum c10::ScalarType;
  const DLDataTypeCode code = type == Float || type == Double || type == Half ? kDLFloat
                              : type == BFloat16                              ? kDLBfloat
                              : type == Bool                                  ? kDLBool
                              : type == Byte                                  ? kDLUInt
                              : type == Float8_e4m3fn                         ? kDLFloat8_e4m3fn
                              : type == Float8_e5m2                           ? kDLFloat8_e5m2
                                                                              : kDLInt;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * c10::elementSize(type)),
          1};
}

class TensorView : public at::Tensor {
 public:
  TensorView() = default;
  TensorView(const at::Tensor& of) : at::Tensor(of) {}

  std::int32_t ndim() const { return static_cast<std::int32_t>(dim()); }
  ShapeView shape() const { return sizes(); }
  DLDataType dtype() const { return data_type(scalar_type()); }
  DLDevice device() const { return {kDLCUDA, 0}; }
  bool IsContiguous() const { return is_contiguous(); }
  std::int64_t byte_offset() const { return 0; }
};
using Tensor = TensorView;

// Collects a message by <<, and throws it at the end of the statement.
class Refusal {
 public:
  Refusal() = default;
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;
  ~Refusal() noexcept(false) { kzoo::tensors::fail(text_.str()); }
  template <class Word>
  Refusal& operator<<(const Word& word) {
    text_ << word;
    return *this;
  }

 private:
  std::ostringstream text_;
};

}  // namespace tvm::ffi

#define TVM_FFI_THROW(KIND) ::tvm::ffi::Refusal() << #KIND ": "
#define TVM_FFI_ICHECK(CONDITION) \
  if (CONDITION) {                \
  } else                          \
    ::tvm::ffi::Refusal() << #CONDITION ": "
#define TVM_FFI_CHECK(CONDITION, KIND) TVM_FFI_ICHECK(CONDITION)
#define TVM_FFI_ICHECK_EQ(X, Y) TVM_FFI_ICHECK((X) == (Y))
#define TVM_FFI_ICHECK_NE(X, Y) TVM_FFI_ICHECK((X) != (Y))
#define TVM_FFI_ICHECK_LT(X, Y) TVM_FFI_ICHECK((X) < (Y))
#define TVM_FFI_ICHECK_LE(X, Y) TVM_FFI_ICHECK((X) <= (Y))
#define TVM_FFI_ICHECK_GT(X, Y) TVM_FFI_ICHECK((X) > (Y))
#define TVM_FFI_ICHECK_GE(X, Y) TVM_FFI_ICHECK((X) >= (Y))
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC(NAME, FUNCTION) static_assert(true)
