#pragma once
// Device memory, and a matrix in it with redzones around it.

#include "core/operands.hpp"
#include "core/problem.hpp"
#include "devices/backend.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace kzoo::worker {

class device_memory {
 public:
  device_memory(devices::backend& on, std::size_t bytes, const devices::surroundings& around = {})
      : backend_(on), memory_(on.allocate(bytes, around)) {}
  ~device_memory() { backend_.release(memory_); }
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;

  void* get() const { return memory_; }

 private:
  devices::backend& backend_;
  void* memory_;
};

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t step) {
  return (bytes + step - 1) / step * step;
}

// Memory that must not be written.
inline data::matrix poison_spec(std::size_t bytes) {
  constexpr std::uint64_t kKey = 5;
  const auto cols = static_cast<std::int64_t>(bytes / sizeof(float)) - 2 * data::kRedzone;
  return {KZOO_F32, data::content::poison, 1, cols, cols, kKey};
}

// The first changed element; -1: none.
inline std::int64_t first_change(const data::changes& found) {
  if (found.first_inside < 0 || found.first_outside < 0)
    return std::max(found.first_inside, found.first_outside);
  return std::min(found.first_inside, found.first_outside);
}

// A matrix between redzones, in the layout of data/matrix.hpp, and between zones of at least 128
// rows. Accesses to the zones fault, or the zones hold poison.
class device_matrix {
 public:
  // In memory of its own. A fault around it is reported with `name`.
  device_matrix(devices::backend& on, const data::matrix& x, const char* name)
      : device_matrix(on, x,
                      std::make_unique<device_memory>(
                          on, bytes_needed(on, x), devices::surroundings{zone_bytes(x), name})) {}
  // In bytes_needed() bytes of memory that the caller keeps, at a multiple of kMatrixAlignment.
  device_matrix(devices::backend& on, const data::matrix& x, void* memory)
      : backend_(on), spec_(x), zone_(zone_on(on, x)), memory_(static_cast<char*>(memory) + zone_) {
    refill(x);
    for (const devices::filled_buffer& z : zones()) backend_.fill(z.words, z.spec);
  }
  // With its zones.
  static std::size_t bytes_needed(const devices::backend& on, const data::matrix& x) {
    return padded_bytes(x) + 2 * zone_on(on, x);
  }

  const data::matrix& spec() const { return spec_; }
  std::size_t bytes() const { return bytes_of(spec_); }
  const void* words() const { return memory_; }
  devices::filled_buffer contents() const { return {memory_, spec_}; }
  // Element (0, 0), behind the leading redzone.
  void* first() const { return memory_ + offset_of_first(); }
  std::size_t offset_of_first() const { return data::kRedzone * type_size(spec_.type); }

  void refill() { backend_.fill(memory_, spec_); }
  // New contents of the same size.
  void refill(const data::matrix& x) {
    plan(x);
    refill();
  }
  // Sets the intended contents; the caller writes them.
  void plan(const data::matrix& x) { spec_ = x; }
  // Inverts the signs of row `next` (-1: none), and restores the previous row.
  void set_late_row(std::int64_t next = -1) {
    const std::int64_t before = std::exchange(spec_.late_row, next);
    for (const std::int64_t row : {before, next})
      if (row >= 0) backend_.fill_row(memory_, spec_, row);
  }
  // The whole buffer, redzones included.
  void copy_from_host(const void* host) { backend_.copy_to_device(memory_, host, bytes()); }
  // Tells a sanitizer, if active, whether the redzones may be accessed.
  void mark_redzones(bool out_of_bounds) { backend_.mark_redzones(memory_, spec_, out_of_bounds); }

  // The zones before and after it, if they hold poison.
  std::vector<devices::filled_buffer> zones() const {
    if (zone_ == 0) return {};
    return {{memory_ - zone_, poison_spec(zone_)},
            {memory_ + padded_bytes(spec_), poison_spec(zone_)}};
  }
  // Adds changes in its zones to its own, as changes outside.
  data::changes with_zones(data::changes own, std::span<const data::changes> in_zones) const {
    const std::vector<devices::filled_buffer> each = zones();
    for (std::size_t i = 0; i < each.size(); ++i) {
      const data::changes& found = in_zones[i];
      if (!found.any()) continue;
      const auto at = static_cast<const char*>(each[i].words) - memory_ +
                      std::ptrdiff_t{sizeof(float)} * first_change(found);
      const auto size = static_cast<std::ptrdiff_t>(type_size(spec_.type));
      const std::int64_t index = (at < 0 ? at - size + 1 : at) / size;
      if (own.outside == 0 || index < own.first_outside) own.first_outside = index;
      own.outside += found.inside + found.outside;
    }
    return own;
  }

  // Size of one zone. Large matrices still begin at a page of the device.
  static std::size_t zone_bytes(const data::matrix& x) {
    constexpr std::size_t kRows = 128, kLeast = 64 << 10, kMost = 64 << 20, kPage = 2 << 20;
    const std::size_t rows = kRows * static_cast<std::size_t>(x.ld) * type_size(x.type);
    const std::size_t step = rows < kPage ? kLeast : kPage;
    return std::clamp(rounded_up(rows, step), kLeast, kMost);
  }

 private:
  device_matrix(devices::backend& on, const data::matrix& x, std::unique_ptr<device_memory> own)
      : device_matrix(on, x, own->get()) {
    own_ = std::move(own);
  }
  static std::size_t bytes_of(const data::matrix& x) {
    return static_cast<std::size_t>(data::word_count(x)) * type_size(x.type);
  }
  static std::size_t padded_bytes(const data::matrix& x) {
    return rounded_up(bytes_of(x), kMatrixAlignment);
  }
  static std::size_t zone_on(const devices::backend& on, const data::matrix& x) {
    return on.faults_around() ? 0 : zone_bytes(x);
  }

  devices::backend& backend_;
  data::matrix spec_;
  std::size_t zone_;                    // bytes on either side that hold poison
  char* memory_;                        // the matrix, behind its leading zone
  std::unique_ptr<device_memory> own_;  // null: the caller's
};

}  // namespace kzoo::worker
