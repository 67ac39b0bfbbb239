#pragma once
// The files that --json, --csv, --md and --junit ask for.

#include "cli/commands.hpp"
#include "os/files.hpp"
#include "os/output.hpp"
#include "results/document.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kzoo::cli {

// The output file of a flag such as --json. Opened before anything runs, so that a long run does
// not fail at its end for want of a folder. An older file is replaced only once the new one is
// complete.
class export_file {
 public:
  // `name` "-" is stdout. Throws input::invalid if it cannot be written.
  export_file(std::string flag, std::string name);
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

// The files that a command is asked for.
class export_files {
 public:
  // Of a command that reads `inputs`, and writes a journal unless that is empty: none of them may
  // be overwritten.
  explicit export_files(const std::vector<std::filesystem::path>& inputs,
                        const std::filesystem::path& journal = {});

  // Opens what a flag names; null if that is nothing. Throws input::invalid, also for a second "-"
  // and for what another flag names.
  export_file* add(const std::string& flag, const std::string& name);
  // Whether one of them goes to stdout, which then must hold nothing else.
  bool on_stdout() const { return on_stdout_; }

 private:
  struct taken_file {
    std::filesystem::path file;
    std::string what;  // why it may not be overwritten
  };
  std::vector<taken_file> taken_;
  std::vector<std::unique_ptr<export_file>> files_;
  bool on_stdout_ = false;
};

void render(const results::document& d, format f, const report::shown_options& shown,
            const text_sink& out);

// The results of a run in the formats that its options name.
class exports : public export_files {
 public:
  exports(const output_options& options, const std::vector<std::filesystem::path>& inputs,
          const std::filesystem::path& journal);
  void write(const results::document& d);

 private:
  struct entry {
    cli::format format;
    export_file* file;
  };
  std::vector<entry> entries_;
  report::shown_options shown_;
};

}  // namespace kzoo::cli
