#include "storage/parse.hpp"

#include "input/diagnostics.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace kzoo::storage {
namespace {

// The library's message, without the name and position that it puts before it.
std::string words_of(const nlohmann::json::parse_error& e) {
  const std::string_view words = e.what();
  const auto column = words.find("column");
  const auto colon = words.find(": ", column == std::string_view::npos ? 0 : column);
  return std::string(colon == std::string_view::npos ? words : words.substr(colon + 2));
}

}  // namespace

nlohmann::ordered_json parse(std::string_view text, const location& start) {
  try {
    return nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    // The text up to the last character that the parser read, the `byte`-th.
    const std::string_view before = text.substr(0, e.byte == 0 ? 0 : e.byte - 1);
    location where = start;
    where.line += static_cast<unsigned>(std::ranges::count(before, '\n'));
    where.column = static_cast<unsigned>(before.size() - (before.rfind('\n') + 1) + 1);
    throw input::invalid(input::error_text(to_string(where), words_of(e)));
  } catch (const nlohmann::json::out_of_range&) {  // beyond a double; the exception has no position
    throw input::invalid(input::error_text(to_string(start), "holds a number that is too large"));
  }
}

}  // namespace kzoo::storage
