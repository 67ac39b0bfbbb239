#pragma once
// Paths for tests. Only the object of paths.cpp depends on the build's paths.

#include <filesystem>
#include <string>

namespace kzoo::test {

std::string version();
std::string runner_program();
std::filesystem::path source_folder();
// The folder of the misbehaving plugins, with subfolders cpu and cuda.
std::string hostile_folder();
std::filesystem::path hostile_plugin(const std::string& device, const std::string& name);
// The folder of the project's own plugins for the device, "cpu" or "cuda".
std::filesystem::path plugin_folder(const std::string& device);
// The folder of libkzoo.so and libkzoo_blas.so.
std::filesystem::path library_folder();
// A file among the stand-ins for the tests of libkzoo.
std::filesystem::path library_stand_in(const std::string& file);
// A replacement for the driver's NVML library.
std::string fake_nvml();
// A library that records NVTX ranges; "" in a build without CUDA.
std::string nvtx_recorder();

}  // namespace kzoo::test
