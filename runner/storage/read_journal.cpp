#include "input/diagnostics.hpp"
#include "storage/cell_json.hpp"
#include "storage/collected_cells.hpp"
#include "storage/field.hpp"
#include "storage/journal.hpp"
#include "storage/parse.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <istream>
#include <optional>
#include <vector>

namespace kzoo::storage {
namespace {

using json = nlohmann::ordered_json;

// The lines that end in a line break; what follows the last of them is incomplete.
class whole_lines {
 public:
  explicit whole_lines(std::istream& in) : in_(in) {}

  bool next() {
    if (!std::getline(in_, text_) || in_.eof()) return false;
    end_ += text_.size() + 1;
    ++number_;
    return true;
  }
  const std::string& text() const { return text_; }
  unsigned number() const { return number_; }
  std::uint64_t end() const { return end_; }  // in the file, its line break included
  bool is_last() { return in_.peek() == std::istream::traits_type::eof(); }

 private:
  std::istream& in_;
  std::string text_;
  unsigned number_ = 0;
  std::uint64_t end_ = 0;
};

// Adds a line after the first: a note, or a cell.
void add(results::document& d, collected_cells& cells, const field& line) {
  if (line.find("resumed")) {
    d.notes.push_back(line.at("note").text());
    return;
  }
  const field cell = line.at("cell");
  const auto problem = line.find("problem");
  cells.add(cell, problem ? std::optional(problem->integer<std::size_t>()) : std::nullopt);
  d.wall_seconds = line.at("wall_seconds").number();
}

}  // namespace

results::cell read_line(const nlohmann::json& line, std::size_t problem,
                        std::span<const results::cell> earlier, const std::string& place) {
  const json ordered = line;
  const field cell = field(ordered, place).at("cell");
  stored_cell read = read_cell(cell);
  std::vector<const kernel_id*> kernels;
  for (const results::cell& c : earlier) kernels.push_back(&c.kernel);
  place_among(read, kernels, cell);
  read.cell.problem = problem;
  return std::move(read.cell);
}

bool is_journal_head(const std::string& line) {
  constexpr const char* kAnyVersion = "kzoo.journal/";
  if (line.find(kAnyVersion) == std::string::npos) return false;  // before a long line is parsed
  const json head = json::parse(line, nullptr, false);
  if (!head.is_object() || !head.contains("schema") || !head["schema"].is_string()) return false;
  return head["schema"].get<std::string>().starts_with(kAnyVersion);
}

journal_content read_journal(std::istream& in, const std::string& file) {
  whole_lines lines(in);
  if (!lines.next()) throw input::invalid(input::error_text(file, "its first line is incomplete"));
  json head = parse(lines.text(), {file, 1});
  field(head, file).at("schema").require_schema(kJournalSchema);
  head["wall_seconds"] = 0;

  journal_content content;
  content.results = read_head(head, file);
  content.whole_bytes = lines.end();
  collected_cells cells;
  while (lines.next()) {
    // After a crash of the machine, the end of a file may hold anything.
    if (lines.is_last() && !json::accept(lines.text())) break;
    const json line = parse(lines.text(), {file, lines.number()});
    const std::string place = fmt::format("{}:{}", file, lines.number());
    add(content.results, cells, field(line, place));
    content.whole_bytes = lines.end();
  }
  cells.move_into(content.results);
  return content;
}

}  // namespace kzoo::storage
