#pragma once
// What every page begins and ends with.

#include "os/output.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kzoo::html {

// Up to the page's contents. `links`: the ids of its parts, and what they are called.
void begin_page(const std::string& title, const std::string& heading,
                const std::vector<std::pair<std::string, std::string>>& links,
                const text_sink& out);
void add_script(std::string_view text, const text_sink& out);
void end_page(const text_sink& out);

}  // namespace kzoo::html
