#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

namespace kzoo::cli {

// Where results go that --json, --csv or --md ask for. Opened before anything runs, so that an
// hour's results do not meet a missing folder; and an older file is replaced only when the new one
// is whole.
class export_file {
 public:
  // `name` "-" is stdout. Throws experiment::invalid when it cannot be written, or is `source`:
  // what the results are of.
  export_file(std::string flag, std::string name, const std::filesystem::path& source);
  ~export_file();
  export_file(const export_file&) = delete;
  export_file& operator=(const export_file&) = delete;

  void write(const std::string& text);

 private:
  std::string flag_, name_, written_;
  std::FILE* file_ = nullptr;  // null: stdout
};

}  // namespace kzoo::cli
