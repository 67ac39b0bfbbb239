#include "cli/ceilings.hpp"

#include "core/printable.hpp"
#include "core/sha256.hpp"
#include "results/ceilings.hpp"
#include "roofline/measure.hpp"

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
  // A relative one is no cache folder, says the XDG Base Directory Specification.
  const fs::path cache = environment("XDG_CACHE_HOME");
  return cache.is_absolute() ? cache / below : fs::path(environment("HOME")) / ".cache" / below;
}

}  // namespace

fs::path ceilings_file(const devices::device& d) {
  std::string facts = results::kCeilingsSchema;
  for (const auto& [name, fact] : roofline::ceilings_for(d).facts)
    facts += name + '=' + fact + '\n';
  constexpr std::size_t kDigits = 8;
  return folder() /
         fmt::format("{}-{}.json", file_name_from(d.name), sha256(facts).substr(0, kDigits));
}

std::optional<roofline::ceilings> known_ceilings(const devices::device& d) {
  const fs::path file = ceilings_file(d);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  return results::load_ceilings(file);
}

}  // namespace kzoo::cli
