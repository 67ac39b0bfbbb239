#pragma once
// A journal: the results of a run as JSON lines, written while it runs, so that an interruption
// loses no finished cell. The first line holds what is known before anything runs; then there is a
// line for each finished cell. docs/formats.md describes them.

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

namespace kzoo::storage {

inline constexpr std::string_view kJournalSchema = "kzoo.journal/3";

// The line of a cell, the last of these, which are cells of one problem. Problems may be in any
// order; the cells of one problem are in the order of the document.
nlohmann::ordered_json journal_line(const results::document& d,
                                    std::span<const results::cell> so_far);

// Reads the line of a cell of that problem; `earlier` are those before. Throws input::invalid;
// errors refer to the line as `place`.
results::cell read_line(const nlohmann::json& line, std::size_t problem,
                        std::span<const results::cell> earlier, const std::string& place);

// A line could not be written: the disk is full, say.
class not_stored : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Writes a journal. Each line is one write() and is on disk before the call returns. Throws
// input::invalid if the file cannot be opened, not_stored if a line cannot be written.
class journal {
 public:
  // Creates the file and the folders above it; refuses a file that exists.
  static journal create(const std::filesystem::path& file);
  // The same for NAME.jsonl or, as long as that exists, NAME_2.jsonl and so on.
  static journal create_numbered(const std::filesystem::path& name);
  // Opens an existing journal, to read it and then append to it: from now on no other run writes
  // it. Refuses one that another run is writing, and says which.
  static journal reopen(const std::filesystem::path& file);
  // Creates the journal, or reopens the one that is there; waits for the end of another run that is
  // writing it, after a call of waits() with words that say which.
  static journal create_or_reopen(const std::filesystem::path& file,
                                  const std::function<void(const std::string& words)>& waits);

  journal(journal&& other) noexcept;
  journal& operator=(journal&&) = delete;
  ~journal();

  const std::filesystem::path& file() const { return file_; }
  // Cuts off what follows `whole_bytes`, which is an incomplete line.
  void cut_off(std::uint64_t whole_bytes);
  void head(const results::document& d);
  // Records that the run was resumed, and where. `note` becomes one of the results' notes.
  void resumed(const std::string& when, const std::string& host, const std::string& note);
  // Writes journal_line().
  void add(const results::document& d, std::span<const results::cell> so_far);

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

// Whether this is the first line of a journal.
bool is_journal_head(const std::string& line);
// Whether a journal has its first line; one that is incomplete does not count. Throws
// input::invalid for a file that is none, and for one that cannot be read.
bool has_head(const std::filesystem::path& file);
// Reads a journal line by line; throws input::invalid, and errors refer to it as `file`.
journal_content read_journal(std::istream& in, const std::string& file);

}  // namespace kzoo::storage
