#include "compile/python_source.hpp"

#include "os/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace kzoo::compile {
namespace {

constexpr std::string_view kKernel = "__global__";

// What a string stands for where it has quotes and backslashes; other escapes are for C++ as well.
std::string unescaped(std::string_view text) {
  std::string code;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_escape = text[at] == '\\' && at + 1 < text.size() &&
                           std::string_view("\\'\"").find(text[at + 1]) != std::string_view::npos;
    code += text[is_escape ? ++at : at];
  }
  return code;
}

class python_reader {
 public:
  explicit python_reader(std::string_view python) : python_(python) {}

  std::string code() {
    while (at_ < python_.size()) {
      if (python_[at_] == '#')
        take_comment();
      else if (python_[at_] == '"' || python_[at_] == '\'')
        take_string();
      else
        skip(1);
    }
    return has_kernel_ ? code_ + bindings() : "";
  }

 private:
  // Their lines stay.
  void skip(std::size_t count) {
    const std::string_view skipped = python_.substr(at_, count);
    code_.append(static_cast<std::size_t>(std::ranges::count(skipped, '\n')), '\n');
    at_ += count;
  }

  void take_comment() {
    const std::size_t end = std::min(python_.find('\n', at_), python_.size());
    const std::string_view comment = trimmed(python_.substr(at_ + 1, end - at_ - 1));
    if (comment.starts_with("kzoo:")) code_ += fmt::format("// {}", comment);
    skip(end - at_);
  }

  void take_string() {
    const std::string_view rest = python_.substr(at_);
    const std::string_view three = rest.substr(0, 3);
    const std::string_view quotes = three == "\"\"\"" || three == "'''" ? three : rest.substr(0, 1);
    std::size_t end = quotes.size();
    while (end < rest.size() && !rest.substr(end).starts_with(quotes))
      end += rest[end] == '\\' ? 2 : 1;
    end = std::min(end, rest.size());
    const std::string_view text = rest.substr(quotes.size(), end - quotes.size());
    if (quotes.size() == 3 && (has_part(text, kKernel) || has_part(text, "#include"))) {
      const bool is_raw = at_ > 0 && (python_[at_ - 1] == 'r' || python_[at_ - 1] == 'R');
      code_ += is_raw ? std::string(text) : unescaped(text);
      has_kernel_ = has_kernel_ || has_part(text, kKernel);
      at_ += std::min(end + quotes.size(), rest.size());
    } else {
      skip(std::min(end + quotes.size(), rest.size()));
    }
  }

  // A regular expression would need a stack as deep as the list is long.
  std::string bindings() const {
    constexpr std::string_view kKey = "functions";
    for (std::size_t at = python_.find(kKey); at != std::string_view::npos;
         at = python_.find(kKey, at + 1)) {
      std::string_view rest = python_.substr(at + kKey.size());
      const auto follows = [&rest](char symbol) {
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
        if (!rest.starts_with(symbol)) return false;
        rest.remove_prefix(1);
        return true;
      };
      if (!follows('=') || !follows('[')) continue;
      const std::size_t end = rest.find(']');
      if (end == std::string_view::npos) return "";
      std::string names;
      for (const char c : rest.substr(0, end))
        if (is_in_word(c) || !names.ends_with(' ')) names += is_in_word(c) ? c : ' ';
      return fmt::format("\n#if defined(PYBIND11_MODULE)\nPYBIND11_MODULE({}, m) {{}}\n#endif\n",
                         trimmed(names));
    }
    return "";
  }

  std::string_view python_;
  std::size_t at_ = 0;
  std::string code_;
  bool has_kernel_ = false;
};

}  // namespace

std::string cuda_code_in(std::string_view python) { return python_reader(python).code(); }

}  // namespace kzoo::compile
