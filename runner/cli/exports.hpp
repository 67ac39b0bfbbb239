#pragma once
// Writes the files that --json, --csv, --md and --junit ask for.

#include "cli/commands.hpp"
#include "cli/export_file.hpp"
#include "os/output.hpp"
#include "results/document.hpp"

#include <filesystem>
#include <vector>

namespace kzoo::cli {

enum class format { json, csv, markdown, junit };
void render(const results::document& d, format f, const report::shown_options& shown,
            const text_sink& out);

class exports {
 public:
  exports(const output_options& options, const std::filesystem::path& source);

  // Whether one of them goes to stdout, which then must hold nothing else.
  bool on_stdout() const { return files_.on_stdout(); }
  void write(const results::document& d);

 private:
  struct entry {
    cli::format format;
    export_file* file;
  };
  export_files files_;
  std::vector<entry> entries_;
  report::shown_options shown_;
};

}  // namespace kzoo::cli
