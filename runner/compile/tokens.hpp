#pragma once
// C++ divided into tokens, as far as one has to know to find declarations in it.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kzoo::compile {

enum class token_kind : unsigned char { word, number, literal, symbol, directive };

struct token {
  token_kind kind;
  std::string_view text;  // a part of the source
};
using token_list = std::span<const token>;

// All but spaces and comments. A symbol is one character; a directive is what stands from '#' to
// the end of its line, or of the last one that it goes on in.
std::vector<token> tokens_of(std::string_view source);

// Whether it is (, [ or {.
bool opens_group(const token& t);
// Past the bracket that closes the group at `begin`, if there is such a bracket. Of the branches of
// an #if the last counts. The #else of an #if before `begin` ends the group.
std::optional<std::size_t> end_of_group(token_list all, std::size_t begin);

}  // namespace kzoo::compile
