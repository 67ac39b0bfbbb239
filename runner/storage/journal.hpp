#pragma once
// A journal: the results of a run as JSON lines, written while it runs, so that an interruption
// loses no finished cell. The first line holds what is known before anything runs; then there is a
// line for each finished cell. docs/results.md describes them.

#include "results/document.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::storage {

inline constexpr const char* kJournalSchema = "kzoo.journal/1";

// The line of a cell. Problems may be in any order; the cells of one problem are in the order of
// the document.
nlohmann::ordered_json journal_line(const results::document& d, const results::cell& c,
                                    std::span<const results::agreement> with_others);

// Reads the line of a cell of that problem. Throws input::invalid; errors refer to the line as
// `place`.
struct finished_cell {
  results::cell cell;
  std::vector<results::agreement> agreements;
};
finished_cell read_line(const nlohmann::json& line, std::size_t problem, const std::string& place);

// Writes a journal. Each line is one write() and is on disk before the call returns. Throws
// input::invalid if the file cannot be opened, std::runtime_error if a line cannot be written.
class journal {
 public:
  // Creates the file and the folders above it; refuses a file that exists.
  static journal create(const std::filesystem::path& file);
  // Opens an existing journal to append to it. What follows `whole_bytes` is an incomplete line and
  // is cut off.
  static journal reopen(const std::filesystem::path& file, std::uint64_t whole_bytes);

  journal(journal&& other) noexcept;
  journal& operator=(journal&&) = delete;
  ~journal();

  const std::filesystem::path& file() const { return file_; }
  void head(const results::document& d);
  // Records that the run was resumed. `note` becomes one of the results' notes.
  void resumed(const std::string& when, const std::string& note);
  void add(const results::document& d, const results::cell& c,
           std::span<const results::agreement> with_others);

 private:
  journal(std::filesystem::path file, int fd);
  void write(const nlohmann::ordered_json& line);

  std::filesystem::path file_;
  int fd_;
};

struct journal_content {
  results::document results;
  std::uint64_t whole_bytes = 0;  // without an incomplete last line
};

bool is_journal(std::string_view text);
// Errors refer to the text as `file`; throws input::invalid.
journal_content read_journal(std::string_view text, const std::string& file);

}  // namespace kzoo::storage
