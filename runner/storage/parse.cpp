#include "storage/parse.hpp"

#include "input/diagnostics.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <istream>

namespace kzoo::storage {
namespace {

using json = nlohmann::ordered_json;
using event = json::parse_event_t;

// The library's message, without the name and position in front of it.
std::string words_of(const json::parse_error& e) {
  const std::string_view words = e.what();
  const auto column = words.find("column");
  const auto colon = words.find(": ", column == std::string_view::npos ? 0 : column);
  return std::string(colon == std::string_view::npos ? words : words.substr(colon + 2));
}

// The position in the library's message, counted from `start`.
location where_of(const json::parse_error& e, const location& start) {
  constexpr std::string_view kBefore = "parse error at line ";
  location where = start;
  where.column = 1;
  unsigned line = 1;
  const std::string_view words = e.what();
  if (const auto at = words.find(kBefore); at != std::string_view::npos) {
    std::sscanf(words.substr(at + kBefore.size()).data(), "%u, column %u", &line, &where.column);
  }
  where.line += line - 1;
  return where;
}

[[noreturn]] void refuse_depth(const location& start) {
  throw input::invalid(
      input::error_text(fmt::format("{}:{}", start.file, start.line),
                        fmt::format("is nested deeper than {} levels", kDeepestNesting)));
}

// Faster than a callback of the parser.
void check_depth(std::string_view text, const location& start) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestNesting) refuse_depth(start);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

// Calls f and rethrows the library's exceptions as input::invalid.
template <class F>
json reporting_errors(const location& start, const F& f) {
  try {
    return f();
  } catch (const json::parse_error& e) {
    throw input::invalid(input::error_text(to_string(where_of(e, start)), words_of(e)));
  } catch (const json::out_of_range&) {  // beyond a double; the exception has no position
    throw input::invalid(input::error_text(fmt::format("{}:{}", start.file, start.line),
                                           "holds a number that is too large"));
  }
}

}  // namespace

json parse(std::string_view text, const location& start) {
  check_depth(text, start);
  return reporting_errors(start, [&] { return json::parse(text); });
}

json parse(std::istream& in, const std::string& file, const string_watcher& watch,
           const element_taker& take) {
  const location start{file, 1};
  std::string key;  // current member of the root
  std::size_t count = 0;
  const auto callback = [&](int depth, event e, json& parsed) {
    if ((e == event::object_start || e == event::array_start) && depth >= kDeepestNesting) {
      refuse_depth(start);
    } else if (e == event::key && depth == 1) {
      key = parsed.get<std::string>();
      count = 0;
    } else if (e == event::value && depth == 1 && parsed.is_string()) {
      watch(key, field(parsed, file, key));
    } else if (e == event::object_end && depth == 2) {
      return take(key, field(parsed, file, fmt::format("{}[{}]", key, count++)));
    }
    return true;
  };
  return reporting_errors(start, [&] { return json::parse(in, callback); });
}

}  // namespace kzoo::storage
