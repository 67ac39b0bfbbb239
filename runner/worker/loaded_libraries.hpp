#pragma once
// The shared libraries of this process.

#include <set>
#include <string>

namespace kzoo::worker {

// Their paths, as the loader has them; without the program itself.
std::set<std::string> loaded_libraries();

}  // namespace kzoo::worker
