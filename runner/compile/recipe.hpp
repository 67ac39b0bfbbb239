#pragma once
// How kzoo_add_plugin compiles a plugin for a device, as CMake wrote it down
// (cmake/kernel-zoo-recipes.cmake).

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::compile {

struct recipe {
  std::string device;                      // cpu, cuda, cpu-xray
  std::string compiler, version;           // its path; its name and version
  std::string build_info;                  // with {architectures} in it, for cuda
  std::string include;                     // the folder of the SDK's headers
  std::string simulated_include;           // of those that stand for CUDA's in the simulator
  std::string package;                     // the folder of the SDK's CMake package
  std::vector<std::string> architectures;  // as CMAKE_CUDA_ARCHITECTURES
  std::vector<std::string> options;        // of the compiler
  std::vector<std::string> definitions;    // NAME=VALUE
  std::vector<std::string> link_options;   // of the linker, by way of the compiler
  std::vector<std::string> libraries;
  // What launches kernels of which nothing but device code is compiled; empty: bare kernels become
  // plugins with host code. Not in the file.
  std::filesystem::path launcher{};
};

// `folder` has a file DEVICE.toml for each device. Throws cannot_compile, with what to do, where
// there is none, and where what it names is not here.
recipe read_recipe(const std::filesystem::path& folder, const std::string& device);

}  // namespace kzoo::compile
