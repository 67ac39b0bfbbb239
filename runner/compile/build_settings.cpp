#include "compile/build_settings.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace kzoo::compile {
namespace {

// "90", "90a", "90a-real", "80-virtual", "native", "all", "all-major".
bool is_architecture(std::string_view text) {
  if (text == "native" || text == "all" || text == "all-major") return true;
  for (const std::string_view suffix : {"-real", "-virtual"})
    if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
  if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
  return text.size() >= 2 && text.size() <= 3 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::string> word(const experiment::value& v) {
  if (const auto* number = v.get<std::int64_t>()) return std::to_string(*number);
  return experiment::text(v);
}

std::optional<std::string> architecture(const experiment::value& v) {
  const auto text = word(v);
  if (!text || is_architecture(*text)) return text;
  v.expected("an architecture as CMake writes it: 90a, 80-virtual, native");
  return std::nullopt;
}

std::optional<std::string> library(const experiment::value& v) {
  const auto text = word(v);
  if (!text ||
      (!text->empty() && text->front() != '-' && text->find_first_of("/ \t") == std::string::npos))
    return text;
  v.expected("a library's name, such as cublas");
  return std::nullopt;
}

}  // namespace

build_settings read_build_settings(experiment::table_reader& keys) {
  build_settings s;
  keys.read_list("arch", s.architectures, architecture);
  keys.read_list("libraries", s.libraries, library);
  keys.read_list("options", s.options, word);
  keys.read("native", s.native, experiment::flag);
  return s;
}

}  // namespace kzoo::compile
