#pragma once
// Experiment files made for one test.

#include "experiment/load.hpp"
#include "experiment/names.hpp"
#include "input/diagnostics.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::experiment::testing {

using folder = test::scratch_folder;

inline results::experiment load_text(std::string_view text, const results::overrides& over = {}) {
  const folder here;
  return load(here.write("t.toml", std::string(text)), over);
}

// What is wrong with a file; "" when nothing is. Without the folder's name: "t.toml:1:2: error:
// ...".
inline std::string fault_of(const std::filesystem::path& file, const folder& here,
                            const results::overrides& over = {}) {
  std::string text = test::refusal_of([&] { load(file, over); });
  const std::string prefix = here.path().string() + "/";
  for (std::size_t at; (at = text.find(prefix)) != std::string::npos;)
    text.erase(at, prefix.size());
  return text;
}

// The same with a file "t.toml" of this text.
inline std::string fault(std::string_view text, const results::overrides& over = {}) {
  const folder here;
  return fault_of(here.write("t.toml", std::string(text)), here, over);
}

inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

inline std::vector<std::string> problem_names(const results::experiment& e) {
  std::vector<std::string> result;
  for (const problem& p : e.problems) result.push_back(problem_name(p));
  return result;
}

}  // namespace kzoo::experiment::testing
