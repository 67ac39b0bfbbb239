#include "source/annotations.hpp"

#include "core/kernel_name.hpp"
#include "os/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace kzoo::source {
namespace {

using experiment::node;
using experiment::node_list;

constexpr std::string_view kMark = "kzoo:";
constexpr std::string_view kSpaces = " \t\r";

// The position of the first character outside spaces and /* comments */. `in_comment`: whether the
// line begins, and then ends, in a comment.
std::size_t skip_comments(std::string_view line, bool& in_comment) {
  std::size_t at = 0;
  for (;;) {
    if (in_comment) {
      const std::size_t end = line.find("*/", at);
      if (end == std::string_view::npos) return line.size();
      at = end + 2;
      in_comment = false;
    }
    at = std::min(line.find_first_not_of(kSpaces, at), line.size());
    if (!line.substr(at).starts_with("/*")) return at;
    at += 2;
    in_comment = true;
  }
}

node scalar(std::string_view text, const location& where) {
  if (text == "true" || text == "false") return {where, text == "true"};
  if (const auto number = number_from<std::int64_t>(text)) return {where, *number};
  return {where, std::string(text)};
}

// Makes one list of the elements of both.
void append(node& to, node&& more) {
  const auto list_of = [](node& n) {
    const auto* list = std::get_if<node_list>(&n.value);
    return list != nullptr ? *list : node_list{n};
  };
  node_list all = list_of(to);
  std::ranges::move(list_of(more), std::back_inserter(all));
  to.value = std::move(all);
}

// One line of KEY=VALUE words.
class line_parser {
 public:
  line_parser(std::string_view line, unsigned number, std::size_t begin, input::diagnostics& report)
      : line_(line), number_(number), at_(begin), report_(report) {}

  void add_to(experiment::node_table& table) {
    while (skip_spaces()) {
      if (take_tune()) return add_to(table_of_tune(table));
      const location where = here();
      const std::size_t begin = at_;
      while (at_ < line_.size() && is_identifier(line_.substr(at_, 1))) ++at_;
      const std::string key(line_.substr(begin, at_ - begin));
      const bool has_value = at_ < line_.size() && line_[at_] == '=';
      const bool ends = at_ == line_.size() || is_at_space();
      if (key.empty() || (!has_value && !ends))
        return report_.error(where, "expected KEY=VALUE, such as arch=90a");
      node content{where, true};
      if (has_value) {
        ++at_;
        auto found = value();
        if (!found) return;
        content = std::move(*found);
      }
      const auto known = std::ranges::find(table, key, &experiment::table_entry::key);
      if (known == table.end())
        table.push_back({key, where, std::move(content)});
      else if (in_tune_ && key == "restrictions")
        append(known->content, std::move(content));
      else
        report_.error(where, "{} is given twice", key);
    }
  }

 private:
  // `tune` as a word of its own, before others.
  bool take_tune() {
    constexpr std::string_view kWord = "tune";
    const std::string_view rest = line_.substr(at_);
    const std::size_t next = rest.find_first_not_of(kSpaces, kWord.size());
    if (in_tune_ || !rest.starts_with(kWord) || next == rest.npos || next == kWord.size())
      return false;
    tune_at_ = here();
    at_ += kWord.size();
    return in_tune_ = true;
  }

  // Several such lines are one table.
  experiment::node_table& table_of_tune(experiment::node_table& table) const {
    const auto known = std::ranges::find(table, "tune", &experiment::table_entry::key);
    if (known != table.end()) {
      if (auto* inner = std::get_if<experiment::node_table>(&known->content.value)) return *inner;
      table.erase(known);  // `tune` alone, or with a value
    }
    table.push_back({"tune", tune_at_, {tune_at_, experiment::node_table()}});
    return std::get<experiment::node_table>(table.back().content.value);
  }

  location here() const { return report_.at(number_, static_cast<unsigned>(at_ + 1)); }

  bool is_at_space() const { return kSpaces.find(line_[at_]) != std::string_view::npos; }

  bool skip_spaces() {
    at_ = std::min(line_.find_first_not_of(kSpaces, at_), line_.size());
    return at_ < line_.size();
  }

  // An element, or a list of several; nothing if a quote does not end.
  std::optional<node> value() {
    const location where = here();
    node_list elements;
    do {
      const location element_at = here();
      auto text = element();
      if (!text) return std::nullopt;
      elements.push_back(scalar(*text, element_at));
    } while (at_ < line_.size() && line_[at_++] == ',');
    if (elements.size() == 1) return std::move(elements.front());
    return node{where, std::move(elements)};
  }

  std::optional<std::string> element() {
    const location where = here();
    if (at_ < line_.size() && line_[at_] == '"') {
      const std::size_t end = line_.find('"', at_ + 1);
      if (end == std::string_view::npos) {
        report_.error(where, "a quote that does not end");
        return std::nullopt;
      }
      const std::string text(line_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return text;
    }
    const std::size_t begin = at_;
    int depth = 0;
    for (; at_ < line_.size(); ++at_) {
      const char c = line_[at_];
      if (depth <= 0 && (c == ',' || is_at_space())) break;
      // In a space of parameters these compare.
      const bool is_angle = !in_tune_ && (c == '<' || c == '>');
      if (c == '(' || c == ')' || is_angle) depth += c == '(' || c == '<' ? 1 : -1;
    }
    if (at_ == begin) {
      report_.error(where, "expected a value after '=' or ','{}",
                    at_ < line_.size() && is_at_space()
                        ? "; a space ends a list: write it without spaces"
                        : "");
      return std::nullopt;
    }
    return std::string(line_.substr(begin, at_ - begin));
  }

  std::string_view line_;
  unsigned number_;
  std::size_t at_;
  input::diagnostics& report_;
  bool in_tune_ = false;
  location tune_at_;
};

std::optional<std::string> word(const experiment::value& v) {
  if (const auto* number = v.get<std::int64_t>()) return std::to_string(*number);
  return experiment::text(v);
}

std::optional<std::string> architecture(const experiment::value& v) {
  const auto text = word(v);
  if (!text || is_architecture(*text)) return text;
  v.expected(kArchitectureForm);
  return std::nullopt;
}

std::optional<std::string> library(const experiment::value& v) {
  const auto text = word(v);
  if (!text ||
      (!text->empty() && text->front() != '-' && text->find_first_of("/ \t") == std::string::npos))
    return text;
  v.expected("a library's name, such as cublas");
  return std::nullopt;
}

}  // namespace

bool is_architecture(std::string_view text) {
  if (text == "native" || text == "all" || text == "all-major") return true;
  for (const std::string_view suffix : {"-real", "-virtual"})
    if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
  if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
  return text.size() >= 2 && text.size() <= 3 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  return text.substr(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
}

experiment::node_table annotations(std::string_view source, input::diagnostics& report) {
  experiment::node_table table;
  source = without_byte_order_mark(source);
  bool in_comment = false;  // whether a comment of several lines is open
  unsigned number = 0;
  for (const std::string_view line : lines_of(source)) {
    ++number;
    const std::size_t begin = skip_comments(line, in_comment);
    if (begin == line.size()) continue;
    if (!line.substr(begin).starts_with("//")) break;
    const std::size_t word = line.find_first_not_of(kSpaces, begin + 2);
    if (word == std::string_view::npos || !line.substr(word).starts_with(kMark)) continue;
    line_parser(line, number, word + kMark.size(), report).add_to(table);
  }
  return table;
}

std::string architecture_option(std::string name) {
  if (name == "native" || name == "all" || name == "all-major") return "-arch=" + name;
  const std::size_t dash = name.find('-');
  const std::string kind = dash == std::string::npos ? "" : name.substr(dash);
  name = name.substr(0, dash);
  const std::string code = kind == "-real"      ? "sm_" + name
                           : kind == "-virtual" ? "compute_" + name
                                                : fmt::format("[compute_{0},sm_{0}]", name);
  return fmt::format("-gencode=arch=compute_{},code={}", name, code);
}

build_settings read_build_settings(experiment::table_reader& keys) {
  build_settings s;
  keys.read_list("arch", s.architectures, architecture);
  keys.read_list("libraries", s.libraries, library);
  keys.read_list("options", s.options, word);
  keys.read("native", s.native, experiment::flag);
  return s;
}

}  // namespace kzoo::source
