#pragma once
// Results as one HTML page that needs no other file and no network.

#include "html/tables.hpp"
#include "os/output.hpp"
#include "report/page.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace kzoo::html {

// The charting library: Vega, Vega-Lite and Vega-Embed.
struct charting_library {
  std::string script;  // all of it with its licences, for a page
  // Also has the Python package vl_convert, which draws without a page.
  std::filesystem::path folder;
};
// From the first of the folders that has charts.js.
std::optional<charting_library> find_library(std::span<const std::filesystem::path> folders);

// What each result comes to, with the kernels that its reader looks for; charts of all; then the
// complete report of each. Without the library it has no charts, and says how to get them.
void write_page(std::span<const named_result> all, const std::optional<charting_library>& library,
                bool simulator_times, const text_sink& out);

}  // namespace kzoo::html
