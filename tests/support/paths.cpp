#include "support/paths.hpp"

namespace kzoo::test {

namespace fs = std::filesystem;

std::string version() { return KZOO_VERSION; }
std::string runner_program() { return KZOO_RUNNER; }
fs::path source_folder() { return KZOO_SOURCE_DIR; }
std::string hostile_folder() { return (fs::path(KZOO_BINARY_DIR) / "hostile").string(); }
fs::path hostile_plugin(const std::string& device, const std::string& name) {
  return fs::path(hostile_folder()) / device / (name + ".so");
}
fs::path plugin_folder(const std::string& device) {
  return fs::path(KZOO_BINARY_DIR) / "plugins" / device;
}
fs::path library_folder() { return fs::path(KZOO_BINARY_DIR) / "library"; }
fs::path library_stand_in(const std::string& file) {
  return fs::path(KZOO_BINARY_DIR) / "library_tests" / file;
}
std::string fake_nvml() { return KZOO_FAKE_NVML; }
std::string nvtx_recorder() { return KZOO_NVTX_RECORDER; }

}  // namespace kzoo::test
