#pragma once
// What a source's `// kzoo:` lines say about how it is built.

#include "experiment/reader.hpp"

#include <string>
#include <vector>

namespace kzoo::compile {

struct build_settings {
  std::vector<std::string> architectures;  // arch=90a: as CMAKE_CUDA_ARCHITECTURES
  std::vector<std::string> libraries;      // libraries=cublas: linked for cuda, and where native
  std::vector<std::string> options;        // options=-DTILE=64: of the compiler
  bool native = false;                     // for cpu without the simulator
};

build_settings read_build_settings(experiment::table_reader& keys);

}  // namespace kzoo::compile
