#include "cli/stored_peaks.hpp"

#include "core/printable.hpp"
#include "core/sha256.hpp"
#include "microbenchmarks/measure.hpp"
#include "storage/peaks_json.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;

// "" where it is not set, or empty.
std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path folder() {
  if (const std::string named = environment("KZOO_CEILINGS"); !named.empty()) return named;
  const fs::path below = fs::path("kernel-zoo") / "ceilings";
  // The XDG Base Directory Specification says to ignore a relative path.
  const fs::path cache = environment("XDG_CACHE_HOME");
  if (cache.is_absolute()) return cache / below;
  const fs::path home = environment("HOME");
  return home.empty() ? fs::path() : home / ".cache" / below;
}

}  // namespace

fs::path peaks_file(const results::device& d) {
  if (folder().empty()) return {};
  std::string facts = storage::kPeaksSchema;
  for (const auto& [name, fact] : microbenchmarks::peaks_for(d).facts) {
    facts += fmt::format("{}={}\n", name, fact);
  }
  constexpr std::size_t kDigits = 8;
  return folder() /
         fmt::format("{}-{}.json", file_name_from(d.name), sha256(facts).substr(0, kDigits));
}

std::optional<roofline::peaks> known_peaks(const results::device& d) {
  const fs::path file = peaks_file(d);  // "" is never there
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  return storage::load_peaks(file);
}

}  // namespace kzoo::cli
