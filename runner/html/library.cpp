#include "html/library.hpp"

#include <fstream>
#include <iterator>

namespace kzoo::html {
namespace {

// "" if the file cannot be read.
std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

std::optional<charting_library> find_library(std::span<const std::filesystem::path> folders) {
  for (const std::filesystem::path& folder : folders) {
    charting_library found{text_of(folder / "charts.js"), folder};
    if (!found.script.empty()) return found;
  }
  return std::nullopt;
}

}  // namespace kzoo::html
