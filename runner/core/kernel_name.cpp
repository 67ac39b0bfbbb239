#include "core/kernel_name.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace kzoo {
namespace {

void erase_all(std::string& text, std::string_view word) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at))
    text.erase(at, word.size());
}

}  // namespace

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
