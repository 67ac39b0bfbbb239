#pragma once
// The declarations at the top of a source file and of its namespaces, found without a compiler: of
// a file whose headers are not here, too.

#include "compile/tokens.hpp"

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

namespace kzoo::compile {

struct macro {
  std::vector<token> body;
  bool has_parameters = false;
};
using macros = std::map<std::string_view, macro>;
// Those that a file defines.
macros macros_in(const std::vector<token>& file);

struct source_item {
  std::size_t first = 0, last = 0;  // tokens, the last one not included
  // Too many rather than too few; none: it has none, or a macro makes them.
  std::vector<std::string_view> names{};
  bool is_marked = false;  // as the device's, or as a constant
  bool is_function = false;
  bool is_operator = false;
  bool has_body = false;
};

struct source_items {
  std::vector<source_item> all;
  const token* open = nullptr;  // a bracket that has no end
};
source_items items_in(const std::vector<token>& file, const macros& known);

}  // namespace kzoo::compile
