#include "experiment/syntax.hpp"

#include "os/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace kzoo::experiment {
namespace {

constexpr std::size_t kDeepest = 50;

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// What is wrong with a word outside quotes that stands for a value; "" where the parser knows best.
std::string fault_in_value(std::string_view word) {
  constexpr std::array<std::string_view, 4> kWords{"true", "false", "inf", "nan"};
  const std::string_view bare =
      word.starts_with('+') || word.starts_with('-') ? word.substr(1) : word;
  if (bare.empty() || std::ranges::count(kWords, bare) > 0) return "";
  const auto is_text = [&](char c) {
    // Letters of numbers: an exponent, and the T and Z of a date.
    const bool of_number = c == 'e' || c == 'E' || c == 'T' || c == 't' || c == 'Z' || c == 'z';
    return !is_ascii(c) || (is_letter(c) && !of_number);
  };
  const bool other_base =
      bare.starts_with("0x") || bare.starts_with("0o") || bare.starts_with("0b");
  const bool number = is_digit(bare[0]) && std::ranges::all_of(bare, is_ascii) &&
                      (other_base || std::ranges::none_of(bare, is_text));
  const bool word_like =
      is_letter(bare[0]) || bare[0] == '_' || is_digit(bare[0]) || !is_ascii(bare[0]);
  if (number || !word_like) return "";
  if (const std::string small = lower(word); std::ranges::count(kWords, small) > 0)
    return fmt::format("{} is written in small letters: {}", input::in_quotes(word), small);
  return fmt::format("{} is no value: strings need quotes", input::in_quotes(word));
}

std::string fault_in_key(std::string_view word) {
  if (std::ranges::all_of(word, is_ascii)) return "";
  return fmt::format("{} is no key: letters other than a to z need quotes", input::in_quotes(word));
}

class scanner {
 public:
  scanner(std::string_view text, input::diagnostics& report) : left_(text), report_(report) {}

  void run() {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (left_.starts_with(kByteOrderMark)) left_.remove_prefix(kByteOrderMark.size());
    while (!left_.empty() && step()) continue;
  }

 private:
  enum class position { key, value, after_value };

  // Returns false where the rest is the parser's business.
  bool step() {
    const char c = left_[0];
    if (c == '#') {
      take(std::min(left_.find('\n'), left_.size()));
    } else if (c == '"' || c == '\'') {
      return take_string();
    } else if (c == '[' || c == '{') {
      return open(c);
    } else if (c == ']' || c == '}') {
      if (!open_.empty()) open_.pop_back();
      at_ = position::after_value;
      take(1);
    } else if (c == '=') {
      at_ = position::value;
      dots_ = 0;
      take(1);
    } else if (c == ',') {
      at_ = !open_.empty() && open_.back() == '{' ? position::key : position::value;
      take(1);
    } else if (c == '\n') {
      if (open_.empty()) at_ = position::key;
      dots_ = 0;
      take(1);
    } else if (c == ' ' || c == '\t' || c == '\r') {
      take(1);
    } else {
      return take_word();
    }
    return true;
  }

  bool open(char bracket) {
    // At the start of a line it opens the name of a table, which consists of keys.
    if (at_ == position::value) at_ = bracket == '{' ? position::key : position::value;
    open_.push_back(bracket);
    if (open_.size() > kDeepest) return too_deep();
    take(1);
    return true;
  }

  bool too_deep() {
    report_.error(report_.at(line_, column_),
                  fmt::format("more than {} levels are nested here", kDeepest));
    return false;
  }

  bool take_string() {
    const char quote = left_[0];
    const std::string three(3, quote);
    const std::string end = left_.starts_with(three) ? three : std::string(1, quote);
    std::size_t at = end.size();
    while (at < left_.size() && !left_.substr(at).starts_with(end)) {
      if (end.size() == 1 && left_[at] == '\n') return false;
      at += quote == '"' && left_[at] == '\\' ? 2 : 1;
    }
    if (at >= left_.size()) return false;
    take(at + end.size());
    if (at_ == position::value) at_ = position::after_value;
    return true;
  }

  bool take_word() {
    const std::size_t length = std::min(left_.find_first_of(" \t\r\n=,[]{}#\"'"), left_.size());
    const std::string_view word = left_.substr(0, length);
    const std::string fault = at_ == position::value ? fault_in_value(word) : fault_in_key(word);
    if (!fault.empty()) report_.error(report_.at(line_, column_), fault);
    if (at_ == position::key) {
      dots_ += static_cast<std::size_t>(std::ranges::count(word, '.'));
      if (dots_ >= kDeepest) return too_deep();
    }
    if (at_ == position::value) at_ = position::after_value;
    take(length);
    return true;
  }

  // Columns count characters.
  void take(std::size_t bytes) {
    for (std::string_view part = left_.substr(0, bytes); !part.empty();) {
      const std::string_view c = first_character(part).bytes;
      ++column_;
      if (c == "\n") {
        ++line_;
        column_ = 1;
      }
      part.remove_prefix(c.size());
    }
    left_.remove_prefix(std::min(bytes, left_.size()));
  }

  std::string_view left_;
  input::diagnostics& report_;
  unsigned line_ = 1, column_ = 1;
  position at_ = position::key;
  std::vector<char> open_;
  std::size_t dots_ = 0;  // in the key
};

}  // namespace

void check_syntax(std::string_view text, input::diagnostics& report) {
  scanner(text, report).run();
}

}  // namespace kzoo::experiment
