#include "core/kernel_name.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <memory>

namespace kzoo {
namespace {

// `*` matches any run of characters, `?` any single character. After a mismatch, backtracks to the
// last star, which then matches one more character.
bool glob(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool is_pair_of_ids(std::string_view text, std::string_view extra) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return is_identifier(text, extra);
  return is_identifier(text.substr(0, colon), extra) &&
         is_identifier(text.substr(colon + 1), extra);
}

void erase_all(std::string& text, std::string_view word) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at))
    text.erase(at, word.size());
}

}  // namespace

std::optional<file_selector> as_file(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  const std::size_t name = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t colon = std::min(text.find(':', name), text.size());
  const std::string_view path = text.substr(0, colon);
  constexpr std::array<std::string_view, 5> kSuffixes{".cu", ".cuh", ".cpp", ".so", ".toml"};
  const bool is_path =
      slash != std::string_view::npos ||
      std::ranges::any_of(kSuffixes, [&](std::string_view s) { return path.ends_with(s); });
  if (!is_path) return std::nullopt;
  const std::string_view variant = text.substr(std::min(colon + 1, text.size()));
  if (colon < text.size() && !is_identifier(variant, "*?")) return std::nullopt;
  return file_selector{std::string(path), std::string(variant)};
}

bool is_selector(std::string_view text) {
  return as_file(text).has_value() || is_pair_of_ids(text, "*?");
}
bool is_kernel_name(std::string_view text) { return is_pair_of_ids(text, ""); }

bool matches(std::string_view selector, std::string_view plugin, std::string_view variant) {
  const std::size_t colon = selector.find(':');
  if (!glob(selector.substr(0, colon), plugin)) return false;
  if (colon == std::string_view::npos || variant.empty()) return true;
  return glob(selector.substr(colon + 1), variant);
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return text == nullptr ? name : text.get();
}

std::string short_kernel_name(std::string text) {
  for (const char* clutter :
       {"(anonymous namespace)::", "<unnamed>::", "(int)", "(unsigned int)", "(bool)"})
    erase_all(text, clutter);
  if (text.starts_with("void ")) text.erase(0, 5);
  if (text.ends_with(')')) {  // drops the parameter list, which may contain parentheses
    std::size_t at = text.size();
    for (int open = 0; at-- > 0;) {
      open += text[at] == ')' ? 1 : text[at] == '(' ? -1 : 0;
      if (open == 0) break;
    }
    if (at > 0 && at < text.size()) text.erase(at);
  }
  return text;
}

}  // namespace kzoo
