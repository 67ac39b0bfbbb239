#pragma once
// Translates addresses in a library to source lines, by binutils' addr2line.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::process {

struct source_frame {
  std::string file, function;  // empty: unknown
  unsigned line = 0;
};
// The frames inlined at one address, innermost first.
using frames = std::vector<source_frame>;

// The frames of each address in the library's file. Throws failure if addr2line cannot be run.
std::vector<frames> frames_at(const std::filesystem::path& library,
                              const std::vector<std::uint64_t>& addresses);

// Whether a frame is in the SDK or the standard library, which says little about a kernel.
bool is_sdk(const source_frame& f);
// The innermost frame outside the SDK.
source_frame own_frame(const frames& chain);
// "mine.cu:12"
std::string place_text(const source_frame& f);

// Replaces the address in the simulator's report of a fault ("… instruction 0x12ab of its library")
// by the source line.
std::string with_line(const std::string& text, const std::filesystem::path& library);

// The output of a binutils program. Throws failure.
std::string output_of_binutils(const std::vector<std::string>& argv);

// Parses the output of `addr2line -a -i -f -C`; exposed for its test.
std::vector<frames> parse_frames(const std::string& output);

}  // namespace kzoo::process
