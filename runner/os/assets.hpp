#pragma once
// Files that were put into the program when it was built. Some are templates.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kzoo {

// A file of configs/templates/, by its name there: "page/page.css", "export/Makefile".
std::string_view asset(std::string_view name);

// Values for a template.
struct holes {
  std::map<std::string, std::string, std::less<>> texts{};
  std::map<std::string, std::vector<holes>, std::less<>> lists{};
};

// An asset as Mustache fills templates: {{name}} is a text. What is between {{#name}} and {{/name}}
// is repeated for each of a list, and kept where a text is not empty; between {{^name}} and
// {{/name}} it is kept where the text is empty. {{>name}} is another asset. Inner names hide outer
// ones. Throws std::out_of_range for a text that is not given.
std::string filled(std::string_view name, const holes& values);

// Lines "KEY | WORDS" of an asset, in their order. Lines that begin with # are comments.
using text_table = std::vector<std::pair<std::string, std::string>>;
text_table asset_table(std::string_view name);

}  // namespace kzoo
