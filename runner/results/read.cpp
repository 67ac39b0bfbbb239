#include "results/read.hpp"

#include "experiment/diagnostics.hpp"
#include "experiment/read_file.hpp"
#include "results/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace kzoo::results {
namespace {

constexpr experiment::file_kind kResultFile{"a result file", ".json", 1024};

// FILE:LINE:COLUMN of the last character that was read.
experiment::location place_of(const std::string& file, std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte == 0 ? 0 : byte - 1);
  const auto lines = std::ranges::count(before, '\n');
  return {file, static_cast<unsigned>(lines + 1),
          static_cast<unsigned>(before.size() - (before.rfind('\n') + 1) + 1)};
}

// The library's words, without its own names and places in front of them.
std::string words_of(const nlohmann::json::parse_error& e) {
  const std::string_view words = e.what();
  const auto column = words.find("column");
  const auto colon = words.find(": ", column == std::string_view::npos ? 0 : column);
  return std::string(colon == std::string_view::npos ? words : words.substr(colon + 2));
}

}  // namespace

document read(const std::filesystem::path& path) {
  const std::string file = path.string();
  const std::string text = experiment::read_file(path, kResultFile);
  nlohmann::ordered_json j;
  try {
    j = nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    const auto where = experiment::to_string(place_of(file, text, e.byte));
    throw experiment::invalid(experiment::error_text(where, words_of(e)));
  }
  return from_json(j, file);
}

}  // namespace kzoo::results
