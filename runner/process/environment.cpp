#include "process/environment.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

extern char** environ;

namespace kzoo::process {
namespace {

constexpr std::array<std::string_view, 30> kUsual{
    // Programs, and where they find files.
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LD_*", "TZ",
    // Languages of messages, formats of numbers.
    "LANG", "LANGUAGE", "LC_*",
    // CUDA, its libraries and its tools.
    "CUDA_*", "CUBLAS_*", "CUBLASLT_*", "NVIDIA_*",
    // Number and placement of threads in host libraries.
    "OMP_*", "GOMP_*", "KMP_*", "OPENBLAS_*", "GOTO_*", "MKL_*", "BLIS_*", "MALLOC_*",
    "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
    // Settings between processes of this program.
    "KZOO_*"};

constexpr std::array<std::string_view, 5> kOfProfilers{"NSYS_*", "NVTX_*", "QUADD_*", "OSRT_*",
                                                       "NV_*"};
constexpr std::array<std::string_view, 4> kSecrets{"TOKEN", "SECRET", "PASSWORD", "KEY"};

bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  if (pattern.starts_with('*')) return name.ends_with(pattern.substr(1));
  return name == pattern;
}

bool matches_any(std::string_view name, const auto& patterns) {
  return std::ranges::any_of(patterns,
                             [&](std::string_view pattern) { return matches(name, pattern); });
}

bool is_secret(std::string_view name) {
  return std::ranges::any_of(
      kSecrets, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

std::vector<std::string_view> passed_by_user() {
  const char* list = std::getenv("KZOO_PASS");
  std::vector<std::string_view> names;
  for (std::string_view left = list == nullptr ? "" : list; !left.empty();) {
    const auto end = std::min(left.find(','), left.size());
    if (end > 0) names.push_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return names;
}

std::vector<std::string> chosen(const std::vector<std::string>& settings, const auto& is_chosen) {
  std::vector<std::string> all = settings;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_replaced = std::ranges::any_of(
        settings, [&](std::string_view s) { return s.substr(0, s.find('=')) == name; });
    if (!is_replaced && is_chosen(name)) all.emplace_back(text);
  }
  return all;
}

}  // namespace

std::vector<std::string> whole_environment(const std::vector<std::string>& settings) {
  return chosen(settings, [](std::string_view) { return true; });
}

std::vector<std::string> clean_environment(const std::vector<std::string>& settings,
                                           const std::vector<std::string_view>& variables) {
  const std::vector<std::string_view> asked = passed_by_user();
  return chosen(settings, [&](std::string_view name) {
    if (std::ranges::find(asked, name) != asked.end()) return true;
    if (is_secret(name)) return false;
    return matches_any(name, kUsual) || matches_any(name, variables) || matches_any(name, asked) ||
           (has_profiler() && matches_any(name, kOfProfilers));
  });
}

bool has_profiler() {
  return std::getenv("NSYS_PROFILING_SESSION_ID") != nullptr ||
         std::getenv("NVTX_INJECTION64_PATH") != nullptr;
}

}  // namespace kzoo::process
