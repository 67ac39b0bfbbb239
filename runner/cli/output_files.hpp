#pragma once
// The output files of --json, --csv, --md and --junit, and the new folders of `new` and `export`.

#include "cli/commands.hpp"
#include "os/files.hpp"
#include "os/output.hpp"
#include "results/document.hpp"
#include "source/annotations.hpp"
#include "source/files.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::cli {

// The output file of a flag. Opened before anything runs, so that a long run does not fail at its
// end. Replaces an older file only when the new file is complete.
class output_file {
 public:
  // `name` "-" is stdout. Throws input::invalid if it cannot be written.
  output_file(std::string flag, std::string name);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  void append(std::string_view text);
  // Replaces an older file. Only this throws not_written.
  void finish();
  void write(std::string_view text) {
    append(text);
    finish();
  }

 private:
  std::string flag_, name_, written_;
  std::FILE* file_ = nullptr;  // null: stdout
};

// The output files of a command, which are all different.
class output_files {
 public:
  // Protects `inputs` and, unless it is empty, `journal` from being overwritten.
  explicit output_files(const std::vector<std::filesystem::path>& inputs,
                        const std::filesystem::path& journal = {});

  // Opens a flag's file; null if the flag is not given. Throws input::invalid, also for a second
  // "-" or the same file.
  output_file* add(const std::string& flag, const std::optional<std::string>& given);
  // Whether a file goes to stdout, which must then hold nothing else.
  bool on_stdout() const { return on_stdout_; }

 private:
  struct taken_file {
    std::filesystem::path file;
    std::string what;  // why it may not be overwritten
  };
  std::vector<taken_file> taken_;
  std::vector<std::unique_ptr<output_file>> files_;
  bool on_stdout_ = false;
};

// Writes the results in a format: JSON, CSV, JUnit XML or Markdown.
void render(const results::document& d, format f, const report::shown_options& shown,
            const text_sink& out);

// Writes a run's results in the formats that its options name.
class result_files : public output_files {
 public:
  result_files(const output_options& options, const std::vector<std::filesystem::path>& inputs,
               const std::filesystem::path& journal);
  void write(const results::document& d);

 private:
  struct entry {
    cli::format format;
    output_file* file;
  };
  std::vector<entry> entries_;
  report::shown_options shown_;
};

using source::file_texts;

// Throws input::invalid if it exists and is not empty.
void require_new_folder(const std::filesystem::path& folder);
// Writes all files into a new or empty folder, or none. Throws input::invalid or not_written.
void write_folder(const std::filesystem::path& folder, const file_texts& files);

// The settings in the CMakeLists.txt next to the source; default if there is none. Throws
// input::invalid for other libraries than CUDA's and for include folders.
source::build_settings zoo_settings(const std::filesystem::path& source);

}  // namespace kzoo::cli
