#pragma once
// The charts of a page as SVG files: the same specifications, drawn without a browser.

#include "html/page.hpp"

#include <filesystem>
#include <span>
#include <string>

namespace kzoo::html {

// Writes NAME-light.svg and NAME-dark.svg into the folder for each chart that has something to show
// at first. Returns their names, a line for each. Throws std::runtime_error.
std::string write_svg(std::span<const named_result> all, const charting_library& library,
                      const std::filesystem::path& folder);

// What the program that draws them reads, and the program itself, svg.py.
void write_chart_data(std::span<const named_result> all, const std::filesystem::path& folder);

}  // namespace kzoo::html
