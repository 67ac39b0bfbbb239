#include "support/program.hpp"

#include "devices/devices.hpp"

#include <stdlib.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace kzoo::test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

ending runner(const std::string& arguments, const std::string& setting) {
  const scratch_folder folder;
  const fs::path out = folder.path() / "out", err = folder.path() / "err";
  const std::string command = setting + " '" KZOO_RUNNER "' " + arguments + " >'" + out.string() +
                              "' 2>'" + err.string() + "' </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(out), read(err)};
}

scratch_folder::scratch_folder() {
  std::string name = (fs::temp_directory_path() / "kzoo-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
  path_ = name;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string scratch_folder::write(const std::string& name, const std::string& text) const {
  const fs::path file = path_ / name;
  std::ofstream(file, std::ios::binary) << text;
  return file.string();
}

std::string hostile_folder() { return (fs::path(KZOO_BINARY_DIR) / "hostile").string(); }

fs::path plugin_folder(const std::string& device) {
  return fs::path(KZOO_BINARY_DIR) / "plugins" / device;
}

bool has_gpu() {
  const std::string why = devices::why_no_cuda();
  if (!why.empty()) std::cerr << "skipped: " << why << '\n';
  return why.empty();
}

}  // namespace kzoo::test
