#include "os/loader_message.hpp"

namespace kzoo {

std::string loader_message(std::string_view what, const std::string& file) {
  constexpr std::string_view kBefore = "dlerror system message: ";
  if (const auto at = what.find(kBefore); at != std::string_view::npos) {
    what.remove_prefix(at + kBefore.size());
    if (const auto end = what.rfind("): "); end != std::string_view::npos) {
      what = what.substr(0, end);
    }
  }
  if (what.starts_with(file + ": ")) what.remove_prefix(file.size() + 2);
  return std::string(what);
}

}  // namespace kzoo
