#pragma once
// Experiment files made for one test.

#include "experiment/find_file.hpp"
#include "experiment/load.hpp"
#include "experiment/names.hpp"
#include "input/invalid.hpp"
#include "input/diagnostics.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::experiment::testing {

class folder {
 public:
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "kzoo-experiment-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  // The text without this folder's name: "t.toml:1:2: error: ...".
  std::string relative(std::string text) const {
    const std::string prefix = path_.string() + "/";
    for (std::size_t at; (at = text.find(prefix)) != std::string::npos;)
      text.erase(at, prefix.size());
    return text;
  }

 private:
  std::filesystem::path path_;
};

inline results::experiment load_text(std::string_view text, const results::overrides& over = {}) {
  const folder here;
  return load(here.write("t.toml", text), over);
}

// What is wrong with a file "t.toml" of this text; "" when nothing is.
inline std::string fault(std::string_view text, const results::overrides& over = {}) {
  const folder here;
  try {
    load(here.write("t.toml", text), over);
  } catch (const input::invalid& found) {
    return here.relative(found.what());
  }
  return "";
}

inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

inline std::vector<std::string> problem_names(const results::experiment& e) {
  std::vector<std::string> result;
  for (const problem& p : e.problems) result.push_back(problem_name(p));
  return result;
}

}  // namespace kzoo::experiment::testing
