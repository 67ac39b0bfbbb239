#include "input/diagnostics.hpp"
#include "storage/cell_json.hpp"
#include "storage/field.hpp"
#include "storage/journal.hpp"
#include "storage/parse.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <vector>

namespace kzoo::storage {
namespace {

using json = nlohmann::ordered_json;

struct line {
  std::string_view text;
  std::uint64_t end;  // in the file, its line break included
};

// The lines that end in a line break; what follows the last of them is incomplete.
std::vector<line> whole_lines(std::string_view text) {
  std::vector<line> lines;
  std::size_t at = 0;
  for (std::size_t end = 0; (end = text.find('\n', at)) != std::string_view::npos; at = end + 1) {
    lines.push_back({text.substr(at, end - at), end + 1});
  }
  return lines;
}

// Adds a line after the first to the JSON of the whole run: a note to its notes, a cell to the
// cells of its problem. Cells without the number of their problem are in order.
using cell_lines = std::map<std::size_t, std::vector<json>>;
void add(json& all, cell_lines& cells, const json& content, const std::string& place) {
  const field f(content, place);
  if (f.find("resumed")) {
    all["notes"].push_back(f.at("note").text());
    return;
  }
  f.at("cell");
  f.at("agreement").elements();
  f.at("wall_seconds");
  const auto problem = f.find("problem");
  cells[problem ? problem->integer<std::size_t>() : 0].push_back(content);
  all["wall_seconds"] = content["wall_seconds"];
}

void add_cells(json& all, const cell_lines& cells) {
  for (const auto& [problem, lines] : cells) {
    for (const json& content : lines) {
      all["cells"].push_back(content["cell"]);
      for (const json& a : content["agreement"]) all["agreement"].push_back(a);
    }
  }
}

}  // namespace

finished_cell read_line(const nlohmann::json& line, std::size_t problem, const std::string& place) {
  const json ordered = line;
  const field f(ordered, place);
  finished_cell read{read_cell(f.at("cell")).cell, {}};
  read.cell.problem = problem;
  for (const field& element : f.at("agreement").elements()) {
    read.agreements.push_back(read_agreement(element).agreement);
    read.agreements.back().problem = problem;
  }
  return read;
}

bool is_journal(std::string_view text) {
  const json head = json::parse(text.substr(0, text.find('\n')), nullptr, false);
  if (!head.is_object() || !head.contains("schema") || !head["schema"].is_string()) return false;
  return head["schema"].get<std::string>().starts_with("kzoo.journal/");
}

journal_content read_journal(std::string_view text, const std::string& file) {
  const std::vector<line> lines = whole_lines(text);
  if (lines.empty()) {
    throw input::invalid(input::error_text(file, "not even its first line is whole"));
  }
  json all = parse(lines[0].text, {file, 1});
  if (const std::string schema = field(all, file).at("schema").text(); schema != kJournalSchema) {
    throw input::invalid(input::error_text(
        file, fmt::format("this kernel-zoo reads {}, and not {}", kJournalSchema, schema)));
  }
  all["schema"] = kSchema;
  all["cells"] = all["agreement"] = json::array();
  all["wall_seconds"] = 0;
  field(all, file).at("notes").elements();

  journal_content content;
  cell_lines cells;
  content.whole_bytes = lines[0].end;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const unsigned number = static_cast<unsigned>(i + 1);
    // After a crash of the machine, the end of a file may hold anything.
    const bool last = i + 1 == lines.size();
    if (last && !json::accept(lines[i].text)) break;
    add(all, cells, parse(lines[i].text, {file, number}), fmt::format("{}:{}", file, number));
    content.whole_bytes = lines[i].end;
  }
  add_cells(all, cells);
  content.results = from_json(all, file);
  return content;
}

}  // namespace kzoo::storage
