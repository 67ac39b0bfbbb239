#pragma once
// Where things are. Only paths.cpp knows what the build says of it, so that no other object depends
// on the folders that it was built in.

#include <filesystem>
#include <string>

namespace kzoo::test {

std::string version();
std::string runner_program();
// The repository.
std::filesystem::path source_folder();
// Where the plugins that misbehave are, cpu and cuda.
std::string hostile_folder();
std::filesystem::path hostile_plugin(const std::string& device, const std::string& name);
// Where the project's own are, for the device: "cpu" or "cuda".
std::filesystem::path plugin_folder(const std::string& device);
// What stands in for the driver's library.
std::string fake_nvml();
// What stands in for a profiler that sees names; "" in a build without CUDA.
std::string nvtx_recorder();

}  // namespace kzoo::test
