#pragma once

#include "process/command.hpp"
#include "source/files.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::compile {

// Runs a compiler or a build tool, confined, as a source's options or a CMakeLists.txt may name any
// program. It can write in this folder only, so ccache is disabled. The output is printable and
// shortened; `exceeded` names the limit that stopped it. Throws not_written if the disk is full.
process::command_result run_compiler(const std::vector<std::string>& command,
                                     const std::filesystem::path& folder, double timeout_seconds);

// The hidden command `runner __compiler FOLDER COMMAND…`: run_compiler() for a program beside this
// one whose compiler reads an author's text. Prints the output on stderr. Returns 0, or
// kCompilerFailed where the compiler fails; throws as run_compiler() does.
inline constexpr std::string_view kCompilerCommand = "__compiler";
inline constexpr int kCompilerFailed = 6;  // no exit code of an error of the program
int compiler_main(const std::filesystem::path& folder, const std::vector<std::string>& command);

// Notes on why a source does not compile, a line each, where the compiler does not say it. May be
// empty.
// `file`: the source's name in these lines.
std::string hints(std::string_view device, std::string_view file, std::string_view source,
                  std::string_view compiler_output);

// Notes on host code that could not be left out.
std::string host_code_hints(std::string_view file, const source::needed_code& code,
                            std::string_view compiler_output);

// Notes on headers that are left out.
std::string missing_header_notes(std::string_view file, const std::vector<std::string>& headers);

}  // namespace kzoo::compile
