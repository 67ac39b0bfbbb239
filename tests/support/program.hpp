#pragma once
// Runs the runner as a user does: words in, exit code and two streams out.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace kzoo::test {

struct ending {
  int code = -1;  // 128 + signal, as a shell has it
  std::string out, err;
  // stdout as JSON; throws if it is none.
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

// `arguments` as typed in a shell. `setting`: assignments before the command, or "".
ending runner(const std::string& arguments, const std::string& setting = "");

// A folder that is gone with this object.
class scratch_folder {
 public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Writes a file into it; gives its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

// Where the plugins that misbehave are, cpu and cuda.
std::string hostile_folder();
// Where the project's own are, for the device: "cpu" or "cuda".
std::filesystem::path plugin_folder(const std::string& device);

// False, with a word on stderr, where there is no CUDA device.
bool has_gpu();

}  // namespace kzoo::test
