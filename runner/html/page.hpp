#pragma once
// Results, and analyses of memory accesses, each as one HTML page that needs no other file and no
// network; charts of results also as SVG files.

#include "os/output.hpp"
#include "results/document.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::xray {
struct document;
}

namespace kzoo::html {

// A result with its name in the page.
struct named_result {
  std::string label;
  const results::document* document = nullptr;
  // An earlier result of the same device, if there is one, and the name of its file.
  const results::document* before = nullptr;
  std::string before_file{};
  // The plugins that are steps of a ladder, with the ladder of each.
  std::map<std::string, std::string> steps{};
};

// The charting library: Vega, Vega-Lite and Vega-Embed.
struct charting_library {
  std::string script;  // all of it with its licences, for a page
  // The library's folder; it also has the Python package vl_convert, which draws without a page.
  std::filesystem::path folder;
};
// Reads the library in the first folder that has charts.js.
std::optional<charting_library> find_library(std::span<const std::filesystem::path> folders);

// The answer of each result, charts of all, then the complete report of each. Without the library
// the page has no charts, and says how to get them.
void write_page(std::span<const named_result> all, const std::optional<charting_library>& library,
                bool simulator_times, const text_sink& out);

// The flaws, the costliest lines, and the source with the counts of each line.
void write_xray_page(const xray::document& d, const text_sink& out);

// Writes NAME-light.svg and NAME-dark.svg into the folder for each chart that has something to show
// at first. Returns their names, a line for each. Throws std::runtime_error.
std::string write_svg(std::span<const named_result> all, const charting_library& library,
                      const std::filesystem::path& folder);

// The parts of page.html.
struct page_parts {
  std::string title, heading;
  std::vector<std::pair<std::string, std::string>> links;  // ids of sections, and their names
  std::string contents;                                    // HTML
};
std::string page_text(const page_parts& p);

}  // namespace kzoo::html
