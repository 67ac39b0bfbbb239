#include "compile/edited_text.hpp"

#include "os/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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
  const std::size_t count = statement.size();
  if (count < 5 || std::ranges::count(statement, "__shared__", &token::text) == 0) return at;
  if (statement[count - 3].text != "[" || statement[count - 2].text != "]") return at;
  std::size_t type = 0;
  while (type + 4 < count && is_no_type(at + type)) {
    ++type;
    if (statement[type].text == "(") type = end_of_group(statement, type).value_or(type);
  }
  const token& name = statement[count - 4];
  const std::size_t type_begin = text.begin_of(statement[type]);
  const std::string_view of = trimmed(text.between(type_begin, text.begin_of(name)));
  text.replace(text.begin_of(statement[0]), text.end_of(statement[count - 1]),
               fmt::format("{0}* {1} = kzoo::dynamic_shared<{0}>();", of, name.text));
  return at + count - 1;
}

}  // namespace kzoo::compile
