#include "process/source_frames.hpp"

#include "core/verdict.hpp"
#include "process/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace kzoo::process {

bool is_sdk(const source_frame& f) {
  return f.file.empty() || f.file.find("/include/kzoo/") != std::string::npos ||
         f.file.find("/sdk/src/") != std::string::npos || f.file.find("/c++/") != std::string::npos;
}

std::string output_of_binutils(const std::vector<std::string>& argv) {
  constexpr double kTimeoutSeconds = 60;
  // addr2line needs a few times the size of a library with line information.
  constexpr std::uint64_t kGigabytes4 = std::uint64_t{4} << 30, kMegabytes64 = 64 << 20;
  const confinement of_binutils{.data_bytes = kGigabytes4,
                                .held_bytes = kGigabytes4,
                                .file_bytes = kMegabytes64,
                                .cpu_seconds = kTimeoutSeconds};
  command_result ran;
  try {
    ran = run_confined(argv, {"LC_ALL=C"}, of_binutils, kTimeoutSeconds);
  } catch (const std::system_error& e) {
    if (e.code() != std::errc::no_such_file_or_directory) throw failure(verdict::error, e.what());
    throw failure(verdict::error,
                  fmt::format("there is no {} in PATH; it comes with binutils", argv.front()));
  }
  if (ran.code != 0) {
    throw failure(verdict::error, fmt::format("{} ended with code {}: {}", argv.front(), ran.code,
                                              ran.output.substr(0, ran.output.find('\n'))));
  }
  return ran.output;
}

source_frame own_frame(const frames& chain) {
  const auto own = std::ranges::find_if_not(chain, is_sdk);
  return own != chain.end() ? *own : chain.empty() ? source_frame{} : chain.front();
}

std::vector<frames> frames_at(const std::filesystem::path& library,
                              const std::vector<std::uint64_t>& addresses) {
  std::vector<std::string> argv{"addr2line", "-e", library.string(), "-a", "-i", "-f", "-C"};
  for (const std::uint64_t address : addresses) argv.push_back(fmt::format("{:#x}", address));
  std::vector<frames> called = parse_frames(output_of_binutils(argv));
  if (called.size() != addresses.size()) {
    throw failure(verdict::error, fmt::format("addr2line knows {} of {} addresses in {}",
                                              called.size(), addresses.size(), library.string()));
  }
  return called;
}

std::vector<frames> parse_frames(const std::string& output) {
  std::vector<frames> called;
  std::istringstream in(output);
  std::string function, place;
  while (std::getline(in, function)) {
    if (function.starts_with("0x")) {
      called.emplace_back();
      continue;
    }
    if (called.empty() || !std::getline(in, place)) break;
    source_frame f;
    const auto colon = place.rfind(':');
    if (colon != std::string::npos && !place.starts_with("??")) {
      f.file = std::filesystem::path(place.substr(0, colon)).lexically_normal().string();
      std::from_chars(place.data() + colon + 1, place.data() + place.size(), f.line);
      f.function = function;
    }
    called.back().push_back(std::move(f));
  }
  return called;
}

std::string with_line(const std::string& text, const std::filesystem::path& library) {
  constexpr std::string_view kBefore = "instruction 0x", kAfter = " of its library";
  const auto begin = text.find(kBefore);
  const auto end = text.find(kAfter, begin);
  if (begin == std::string::npos || end == std::string::npos) return text;
  std::uint64_t address = 0;
  std::from_chars(text.data() + begin + kBefore.size(), text.data() + end, address, 16);
  try {
    const source_frame at = own_frame(frames_at(library, {address}).front());
    if (at.file.empty()) return text;
    return text.substr(0, begin) + place_text(at) + text.substr(end + kAfter.size());
  } catch (const failure&) {
    return text;  // without binutils only the address is known
  }
}

std::string place_text(const source_frame& f) {
  return fmt::format("{}:{}", std::filesystem::path(f.file).filename().string(), f.line);
}

}  // namespace kzoo::process
