#pragma once
// The shared libraries of this process.

#include <set>
#include <string>

namespace kzoo::worker {

// Their paths, as the loader has them; without the program itself.
std::set<std::string> loaded_libraries();

// Those among them that multiply matrices for others, by the names of their files: "cublas" for
// libcublasLt.so.13.
std::set<std::string> product_libraries();

}  // namespace kzoo::worker
