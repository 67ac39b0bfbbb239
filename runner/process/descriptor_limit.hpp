#pragma once

#include <cstddef>

namespace kzoo::process {

// Raises the limit of open files and returns it. Each worker takes four.
std::size_t raise_descriptor_limit();

}  // namespace kzoo::process
