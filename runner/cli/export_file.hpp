#pragma once

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kzoo::cli {

// An output could not be written: the disk is full, say.
class not_written : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The output file of --json, --csv or --md. Opened before anything runs, so that a long run does
// not fail at its end for want of a folder. An older file is replaced only once the new one is
// complete.
class export_file {
 public:
  // `name` "-" is stdout. Throws input::invalid if it cannot be written, or is `source`, the input
  // that must not be overwritten.
  export_file(std::string flag, std::string name, const std::filesystem::path& source);
  ~export_file();
  export_file(const export_file&) = delete;
  export_file& operator=(const export_file&) = delete;

  void append(std::string_view text);
  // Puts what was appended in the place of an older file. Throws not_written, and nothing else
  // does.
  void finish();
  void write(std::string_view text) {
    append(text);
    finish();
  }

 private:
  std::string flag_, name_, written_;
  std::FILE* file_ = nullptr;  // null: stdout
};

}  // namespace kzoo::cli
