#pragma once
// Tuned kernels as a project that builds without kernel-zoo: sources, headers, a function that
// calls the kernel for a problem, a Makefile and a CMakeLists.txt.

#include "compile/cache.hpp"
#include "compile/source_plugin.hpp"
#include "core/problem.hpp"
#include "os/assets.hpp"
#include "source/files.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::compile {

// A source at a point of its space; the project makes a library of it.
struct exported_unit {
  std::string name;  // made of the plugin's and the point's
  std::filesystem::path source;
  source_unit code;
  std::vector<std::string> options;    // more options of the compiler
  std::filesystem::path zoo;           // the folder of all plugins, if it holds the source
  std::vector<std::string> missing{};  // headers that are left out
};

// The kernel that was the fastest for a problem.
struct exported_choice {
  kzoo::problem problem;
  std::size_t unit;
  std::optional<std::string> variant;  // absent if it is the only one
  std::string name;                    // the kernel's, for people
  kzoo_precision precision;
};

struct exported_project {
  std::string name;  // a C identifier: the folder's name
  // CMAKE_CUDA_ARCHITECTURES for units whose sources name none.
  std::vector<std::string> architectures;
  std::vector<exported_unit> units;
  std::vector<exported_choice> choices;
};

// The project's files. `manifest_sources`: the folder of the code that bare kernels are linked
// with. Throws input::invalid for sources that cannot be copied.
source::file_texts exported_files(const exported_project& p, const recipe& toolchain,
                                  const std::filesystem::path& manifest_sources);

// The project's functions, one for each combination of types and layouts, as values for templates.
// Each has a "declaration".
std::vector<holes> exported_functions(const exported_project& p);

}  // namespace kzoo::compile
