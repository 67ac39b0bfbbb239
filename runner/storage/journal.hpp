#pragma once
// A journal: the results of a run as JSON lines, written while it runs: a head, then a line for
// each finished cell (docs/formats.md). An interruption loses no finished cell, except of a problem
// whose kernels are divided among devices.

#include "os/posix.hpp"
#include "results/document.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace kzoo::storage {

inline constexpr std::string_view kJournalSchema = "kzoo.journal/3";

// The line of the last cell of the span, whose cells share a problem. Problems may be in any order;
// the cells of a problem are in the order of the document.
nlohmann::ordered_json journal_line(const results::document& d,
                                    std::span<const results::cell> so_far);

// The JSON Schema of each line.
nlohmann::ordered_json journal_schema();

// Reads a cell's line; `earlier`: the problem's cells before it. Throws input::invalid at `place`.
results::cell read_line(const nlohmann::json& line, std::size_t problem,
                        std::span<const results::cell> earlier, const std::string& place);

// A line could not be written, e.g. on a full disk.
class not_stored : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Writes a journal. Each line is on disk before the call returns. Throws input::invalid if the file
// cannot be opened, not_stored if a line cannot be written.
class journal {
 public:
  // Creates the file and its parent folders; refuses a file that exists.
  static journal create(const std::filesystem::path& file);
  // Creates NAME.jsonl, or the first of NAME_2.jsonl, NAME_3.jsonl … that does not exist.
  static journal create_numbered(const std::filesystem::path& name);
  // Opens and locks an existing journal. Refuses a journal that another run writes, naming the run.
  static journal reopen(const std::filesystem::path& file);
  // Creates or reopens the journal. Calls waits() with the name of another writing run and waits.
  static journal create_or_reopen(const std::filesystem::path& file,
                                  const std::function<void(const std::string& words)>& waits);

  const std::filesystem::path& file() const { return file_; }
  // Cuts off the incomplete line after `whole_bytes`.
  void cut_off(std::uint64_t whole_bytes);
  void head(const results::document& d);
  // Records that the run was resumed, and where. `note` becomes a note of the results.
  void resumed(const std::string& when, const std::string& host, const std::string& note);
  void add(const results::document& d, std::span<const results::cell> so_far);

 private:
  journal(std::filesystem::path file, int fd) : file_(std::move(file)), fd_(fd) {}
  void write(const nlohmann::ordered_json& line);

  std::filesystem::path file_;
  descriptor fd_;
};

struct journal_content {
  results::document results;
  std::uint64_t whole_bytes = 0;  // without an incomplete last line
};

// Whether the line is the first line of a journal.
bool is_journal_head(const std::string& line);
// Whether a journal's first line is complete. Throws input::invalid for other files.
bool has_head(const std::filesystem::path& file);
// Reads a journal line by line. Throws input::invalid; errors refer to it as `file`.
journal_content read_journal(std::istream& in, const std::string& file);

}  // namespace kzoo::storage
