#pragma once
// Results while they come about: JSON, a line each, so that an interrupted run loses nothing. The
// first line is what is known before anything runs, then one line for each cell that is finished.
// docs/results.md describes them.

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

// The line of a cell. Problems may come in any order, the cells of each in that of the document.
nlohmann::ordered_json journal_line(const results::document& d, const results::cell& c,
                                    std::span<const results::agreement> with_others);

// Such a line of a problem, back; `place` is what errors call it: throws experiment::invalid.
struct finished_cell {
  results::cell cell;
  std::vector<results::agreement> agreements;
};
finished_cell read_line(const nlohmann::json& line, std::size_t problem, const std::string& place);

// Writes one. Each line is one write and is on the disk before the call returns. Throws
// experiment::invalid where the file cannot be opened, std::runtime_error where not written.
class journal {
 public:
  // A new file, with the folders above it; one that is there already is refused.
  static journal create(const std::filesystem::path& file);
  // The end of one that was read: what is behind `whole_bytes` was not written whole, and goes.
  static journal reopen(const std::filesystem::path& file, std::uint64_t whole_bytes);

  journal(journal&& other) noexcept;
  journal& operator=(journal&&) = delete;
  ~journal();

  const std::filesystem::path& file() const { return file_; }
  void head(const results::document& d);
  // `note` is for whoever reads the results.
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
  std::uint64_t whole_bytes = 0;  // a last line that was not written whole is not among them
};

bool is_journal(std::string_view text);
// `file` is what errors call it; throws experiment::invalid.
journal_content read_journal(std::string_view text, const std::string& file);

}  // namespace kzoo::storage
