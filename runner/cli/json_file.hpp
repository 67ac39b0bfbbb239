#pragma once
// Where --json puts its document.

#include <nlohmann/json_fwd.hpp>

#include <cstdio>
#include <filesystem>
#include <string>

namespace kzoo::cli {

// Tried before anything runs, so that an hour's results do not meet a missing folder; and an older
// file is replaced only when the new one is whole.
class json_file {
 public:
  // `name`: "" is nowhere, "-" stdout. Throws experiment::invalid where it cannot be written, and
  // where it is `source`, the file that the results are of.
  json_file(const std::string& name, const std::filesystem::path& source);
  ~json_file();
  json_file(const json_file&) = delete;
  json_file& operator=(const json_file&) = delete;

  void write(const nlohmann::ordered_json& document);

 private:
  std::string name_, written_;
  std::FILE* file_ = nullptr;  // null: stdout, or nowhere
};

}  // namespace kzoo::cli
