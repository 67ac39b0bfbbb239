#pragma once
// From addresses in a library to lines of source, by binutils' addr2line.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::process {

struct source_frame {
  std::string file, function;  // "" where nothing is known
  unsigned line = 0;
};
// What is inlined at one address, innermost first.
using frames = std::vector<source_frame>;

// Of each address, as the library's file counts them. Throws failure if addr2line cannot be run.
std::vector<frames> frames_at(const std::filesystem::path& library,
                              const std::vector<std::uint64_t>& addresses);

// Whether a line says little of a kernel: one of the SDK, which has its helpers, the launch and the
// simulator, or of the standard library.
bool is_sdk(const source_frame& f);
// The innermost frame that is not the SDK's.
source_frame own_frame(const frames& chain);
// "mine.cu:12"
std::string place_text(const source_frame& f);

// What the simulator says of a fault, "… instruction 0x12ab of its library", with the line of
// source in the place of the address.
std::string with_line(const std::string& text, const std::filesystem::path& library);

// What a program of binutils prints. Throws failure.
std::string output_of_binutils(const std::vector<std::string>& argv);

// The frames of each address in what `addr2line -a -i -f -C` prints; exposed for its test.
std::vector<frames> parse_frames(const std::string& output);

}  // namespace kzoo::process
