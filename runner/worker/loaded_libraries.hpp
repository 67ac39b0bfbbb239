#pragma once
// The shared libraries of this process.

#include <set>
#include <string>

namespace kzoo::worker {

// Paths as in the loader, without the program itself.
std::set<std::string> loaded_libraries();

// GEMM libraries among them, named after their files: "cublas" for libcublasLt.so.13.
std::set<std::string> product_libraries();

}  // namespace kzoo::worker
