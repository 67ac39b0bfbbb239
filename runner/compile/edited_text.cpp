#include "compile/edited_text.hpp"

#include "os/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace kzoo::compile {

unsigned edited_text::line_of(std::size_t at) const {
  return 1 + static_cast<unsigned>(std::ranges::count(source_.substr(0, at), '\n'));
}

void edited_text::replace(std::size_t begin, std::size_t end, std::string_view by,
                          std::string_view line_end) {
  text_ += source_.substr(copied_, begin - copied_);
  text_ += by;
  for (auto lines = std::ranges::count(source_.substr(begin, end - begin), '\n'); lines > 0;
       --lines)
    text_ += line_end;
  copied_ = end;
}

std::size_t replace_dynamic_shared(std::span<const token> tokens, std::size_t at,
                                   edited_text& text) {
  constexpr std::array<std::string_view, 5> kNoType{"extern", "__shared__", "__align__", "alignas",
                                                    "__attribute__"};
  const auto is_no_type = [&](std::size_t i) {
    return i < tokens.size() && std::ranges::count(kNoType, tokens[i].text) > 0;
  };
  if (tokens[at].text != "extern" || !is_no_type(at + 1)) return at;
  const auto rest = tokens.subspan(at);
  const auto end = std::ranges::find(rest, ";", &token::text);
  if (end == rest.end()) return at;
  const auto statement = rest.first(static_cast<std::size_t>(end - rest.begin()) + 1);
  const auto extent = std::ranges::find(statement, "[", &token::text);
  const auto name_at = static_cast<std::size_t>(extent - statement.begin()) - 1;
  if (extent == statement.end() || (extent + 1)->text != "]") return at;
  if (std::ranges::count(statement, "__shared__", &token::text) == 0) return at;
  std::size_t type = 0;
  while (type < name_at && is_no_type(at + type)) {
    ++type;
    if (statement[type].text == "(") type = end_of_group(statement, type).value_or(type);
  }
  if (type >= name_at) return at;
  const token &name = statement[name_at], &last = statement.back();
  const auto in_one_line = [&](std::size_t from, std::size_t to) {
    std::string part(trimmed(text.between(from, to)));
    std::ranges::replace(part, '\n', ' ');
    return part;
  };
  const std::string of = in_one_line(text.begin_of(statement[type]), text.begin_of(name));
  const std::string rows = in_one_line(text.end_of(*(extent + 1)), text.begin_of(last));
  text.replace(
      text.begin_of(statement[0]), text.end_of(last),
      rows.empty()
          ? fmt::format("{0}* {1} = kzoo::dynamic_shared<{0}>();", of, name.text)
          : fmt::format("auto* {1} = reinterpret_cast<{0}(*){2}>(kzoo::dynamic_shared<{0}>());", of,
                        name.text, rows));
  return at + statement.size() - 1;
}

std::string with_dynamic_shared(std::string_view source) {
  edited_text text(source);
  const std::vector<token> tokens = tokens_of(source);
  for (std::size_t at = 0; at < tokens.size(); ++at) at = replace_dynamic_shared(tokens, at, text);
  return text.text();
}

}  // namespace kzoo::compile
