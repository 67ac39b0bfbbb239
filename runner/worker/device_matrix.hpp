#pragma once
// Device memory, and a matrix in it with redzones around it.

#include "core/operands.hpp"
#include "core/problem.hpp"
#include "devices/backend.hpp"

#include <cstddef>
#include <memory>

namespace kzoo::worker {

// Freed by the destructor.
class device_memory {
 public:
  device_memory(devices::backend& on, std::size_t bytes)
      : backend_(on), memory_(on.allocate(bytes)) {}
  ~device_memory() { backend_.release(memory_); }
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;

  void* get() const { return memory_; }

 private:
  devices::backend& backend_;
  void* memory_;
};

// A matrix between redzones, in the layout of matrix_data.hpp.
class device_matrix {
 public:
  device_matrix(devices::backend& on, const data::matrix& x)
      : backend_(on), spec_(x), memory_(on, bytes()) {
    refill(x);
  }

  const data::matrix& spec() const { return spec_; }
  std::size_t bytes() const {
    return static_cast<std::size_t>(data::word_count(spec_)) * type_size(spec_.type);
  }
  const void* words() const { return memory_.get(); }
  // Element (0, 0), behind the leading redzone.
  void* first() const { return static_cast<char*>(memory_.get()) + offset_of_first(); }
  std::size_t offset_of_first() const { return data::kRedzone * type_size(spec_.type); }

  void refill() { backend_.fill(memory_.get(), spec_); }
  // With other contents; the size stays the same.
  void refill(const data::matrix& x) {
    spec_ = x;
    refill();
  }
  // Changes which rows and columns are negated; see data::negation.
  void negate(const data::negation& to) {
    if (to == spec_.negated) return;
    backend_.negate(memory_.get(), spec_, to);
    spec_.negated = to;
  }
  // The whole buffer, redzones included.
  void copy_from_host(const void* host) { backend_.copy_to_device(memory_.get(), host, bytes()); }
  // Tells a sanitizer, if one is active, whether the redzones may be accessed.
  void mark_redzones(bool out_of_bounds) {
    backend_.mark_redzones(memory_.get(), spec_, out_of_bounds);
  }
  data::changes changes() const { return backend_.find_changes(memory_.get(), spec_); }
  std::uint64_t digest() const { return backend_.digest(memory_.get(), spec_); }

 private:
  devices::backend& backend_;
  data::matrix spec_;
  device_memory memory_;
};

}  // namespace kzoo::worker
