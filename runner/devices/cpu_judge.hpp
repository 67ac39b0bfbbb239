#pragma once
// Reads and judges results on the CPU, on all threads: reference/product_check.hpp.

#include "reference/product_check.hpp"

#include <cstdint>

namespace kzoo::devices {

// Reads a buffer in one pass.
data::reading read_all(const void* buffer, const data::matrix& x);
reference::product_findings judge_product(const void* buffer,
                                          const reference::product_check& expected,
                                          std::uint64_t key);

}  // namespace kzoo::devices
