#pragma once
// Results as JSON: docs/formats.md describes every field.

#include "os/output.hpp"
#include "results/document.hpp"
#include "results/finding.hpp"
#include "results/judgement.hpp"
#include "storage/journal.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kzoo::storage {

inline constexpr std::string_view kResultsSchema = "kzoo.results/3";

nlohmann::ordered_json to_json(const results::document& d);
// Everything but the cells.
nlohmann::ordered_json head_json(const results::document& d);
// The last cell of the span, whose cells share a problem.
nlohmann::ordered_json to_json(const results::document& d, std::span<const results::cell> so_far);
// For messages: where to find result files.
inline constexpr std::string_view kResultFiles =
    "results are in the journals, results/*.jsonl, and in what `runner … --json FILE` writes";
// Replaces bytes that are not UTF-8, as plugins' texts may hold. indent -1: a single line.
std::string dumped(const nlohmann::ordered_json& j, int indent);

// Writes the text of a file piece by piece: a line for each cell.
void write(const results::document& d, const text_sink& out);
// Reads all that reports need. Throws input::invalid for anything that write() does not write.
results::document read_document(std::istream& in, const std::string& file);
// Reads what head_json() returns. Errors refer to it as `place`.
results::document read_head(nlohmann::ordered_json head, const std::string& place);

// The JSON Schemas of these documents.
nlohmann::ordered_json results_schema();
nlohmann::ordered_json validation_schema();
nlohmann::ordered_json judgement_schema();

// The results of `runner validate`, schema kzoo.validation/1: the text of a file.
std::string to_text(const results::validation& v);

// Output of `runner judge` for programs, schema kzoo.judgement/1 (docs/formats.md).
inline constexpr std::string_view kJudgementSchema = "kzoo.judgement/1";

struct judgement_setting {
  results::device device;
  std::string tier;
  std::optional<std::string> baseline;
  std::string command;  // repeats the judgement
  double wall_seconds = 0;
};

// A single line, without its line break.
std::string to_line(const results::file_judgement& j, const judgement_setting& setting);
// For a file that was only compiled. Its `library` is the output file, and empty if it does
// not compile.
std::string to_line(const results::file_judgement& j);

// Reads a run's JSON, or a journal. Throws input::invalid with the error's position in the file.
results::document read(const std::filesystem::path& path);

// Reads journals only.
journal_content read_journal_file(const std::filesystem::path& path);

}  // namespace kzoo::storage
