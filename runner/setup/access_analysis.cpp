#include "setup/access_analysis.hpp"

#include "setup/source_plugins.hpp"
#include "xray/analysis.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <utility>

namespace kzoo::setup {
namespace {

namespace fs = std::filesystem;

// "race in shared memory, mine.cu:21 and mine.cu:18: threads 0 and 32 of block 0 (on …); …".
std::string words_of(const std::vector<xray::finding>& all, const problem& p) {
  const xray::finding& f = all.front();
  const std::string more = all.size() == 1 ? "" : fmt::format("; {} more", all.size() - 1);
  return fmt::format("{}, {}: {} (on {}); {}{}", f.what, f.places(), f.detail, problem_name(p),
                     f.advice, more);
}

results::finding finding_of(const std::vector<xray::launch>& launches, const problem& p) {
  std::vector<xray::finding> all;
  for (const xray::launch& l : launches)
    all.insert(all.end(), l.findings.begin(), l.findings.end());
  const std::string check(results::kAccesses);
  if (!all.empty()) return {check, results::outcome::fail, words_of(all, p), {}};
  return {check,
          results::outcome::pass,
          "no race and nothing uninitialised or out of bounds on " + problem_name(p),
          {}};
}

}  // namespace

run::find_access_analysis access_analyses(std::vector<std::string> build_args) {
  return [args = std::move(build_args)](const results::plugin_record& plugin) {
    constexpr double kMostSeconds = 5;
    if (!plugin.source.empty()) {
      return run::access_analysis([plugin, args](std::uint32_t variant, const problem& p) {
        const analysed_variant at = analysed_source(plugin, variant, args);
        return finding_of(xray::analyse({at.library.string(), at.variant, p, 0}, kMostSeconds), p);
      });
    }
    const fs::path library = xray::existing_build(plugin.file);
    if (library.empty()) return run::access_analysis();
    return run::access_analysis([library](std::uint32_t variant, const problem& p) {
      return finding_of(xray::analyse({library.string(), variant, p, 0}, kMostSeconds), p);
    });
  };
}

}  // namespace kzoo::setup
