#include "compile/source_items.hpp"

#include "os/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace kzoo::compile {
namespace {

template <class List>
bool is_one_of(std::string_view word, const List& list) {
  return std::ranges::find(list, word) != list.end();
}

constexpr std::array<std::string_view, 7> kMarks{
    "__global__", "__device__", "__constant__", "__shared__", "constexpr", "consteval", "const"};
constexpr std::array<std::string_view, 4> kClasses{"class", "struct", "union", "enum"};
// What follows these in parentheses are no parameters.
constexpr std::array<std::string_view, 10> kAttributes{
    "__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__align__", "alignas",
    "__attribute__",     "__declspec",  "decltype",         "noexcept",  "requires"};

class item_reader {
 public:
  item_reader(const std::vector<token>& file, const macros& known) : file_(file), macros_(known) {}

  source_items read() {
    for (std::size_t at = 0; at < file_.size();) {
      if (is_directive(at) || is(at, ";") || is(at, "}")) {
        ++at;
      } else if (const std::size_t inside = scope_from(at); inside > at) {
        at = inside;
      } else {
        found_.all.push_back(item_from(at));
        at = found_.all.back().last;
      }
    }
    return std::move(found_);
  }

 private:
  bool is(std::size_t at, std::string_view text) const {
    return at < file_.size() && file_[at].text == text;
  }
  bool is_kind(std::size_t at, token_kind kind) const {
    return at < file_.size() && file_[at].kind == kind;
  }
  bool is_directive(std::size_t at) const { return is_kind(at, token_kind::directive); }
  bool is_any(std::size_t at, const auto& list) const {
    return at < file_.size() && is_one_of(file_[at].text, list);
  }

  // Behind the brace of a namespace or of extern "C"; `begin` where none begins.
  std::size_t scope_from(std::size_t begin) const {
    if (is(begin, "extern") && is_kind(begin + 1, token_kind::literal))
      return is(begin + 2, "{") ? begin + 3 : begin;
    std::size_t at = is(begin, "inline") ? begin + 1 : begin;
    if (!is(at, "namespace")) return begin;
    constexpr std::array<std::string_view, 3> kEnds{"{", ";", "="};
    while (at < file_.size() && !is_any(at, kEnds)) ++at;
    return is(at, "{") ? at + 1 : begin;
  }

  // Behind the bracket that closes the one here; of what #if and #else have, the last counts.
  std::size_t group_end(std::size_t begin) {
    constexpr std::array<std::string_view, 3> kOpen{"(", "[", "{"}, kClose{")", "]", "}"};
    int depth = 0;
    std::vector<int> at_if;
    for (std::size_t at = begin; at < file_.size(); ++at) {
      if (is_directive(at)) {
        const std::string_view what = trimmed(file_[at].text.substr(1));
        if (what.starts_with("if")) at_if.push_back(depth);
        if (what.starts_with("el")) depth = at_if.empty() ? 0 : at_if.back();
        if (what.starts_with("endif") && !at_if.empty()) at_if.pop_back();
      } else if (is_any(at, kOpen)) {
        ++depth;
      } else if (is_any(at, kClose) && --depth == 0) {
        return at + 1;
      }
    }
    if (found_.open == nullptr) found_.open = &file_[begin];
    return file_.size();
  }

  // Behind the parameters of a template.
  std::size_t angles_end(std::size_t begin) {
    int depth = 0;
    for (std::size_t at = begin; at < file_.size(); ++at) {
      if (is(at, "(")) at = group_end(at) - 1;
      if (is(at, "<")) ++depth;
      if (is(at, ">") && --depth == 0) return at + 1;
    }
    return file_.size();
  }

  void add_name(std::size_t at, source_item& to) const {
    if (is_kind(at, token_kind::word) && !is_any(at, kAttributes) && !is_any(at, kClasses))
      to.names.push_back(file_[at].text);
  }
  void add_names(std::size_t begin, std::size_t end, source_item& to) const {
    for (std::size_t at = begin; at < std::min(end, file_.size()); ++at) add_name(at, to);
  }

  const macro* macro_used(std::size_t at) const {
    if (!is_kind(at, token_kind::word) || !is(at + 1, "(")) return nullptr;
    const auto known = macros_.find(file_[at].text);
    return known != macros_.end() && known->second.has_parameters ? &known->second : nullptr;
  }

  bool marks(std::string_view word, int depth = 0) const {
    constexpr int kDeepest = 8;
    if (is_one_of(word, kMarks)) return true;
    const auto known = macros_.find(word);
    return known != macros_.end() && depth < kDeepest &&
           std::ranges::any_of(known->second.body,
                               [&](const token& t) { return marks(t.text, depth + 1); });
  }

  source_item item_from(std::size_t begin) {
    if (const macro* used = macro_used(begin)) {
      const std::size_t end = group_end(begin + 1);
      if (!is(end, "{")) return made_by(*used, begin, end);
    }
    source_item d{begin};
    d.last = is_any(begin, kNotDeclared) ? statement_end(begin)
             : is(begin, "using")        ? using_end(begin, d)
             : is(begin, "typedef")      ? typedef_end(begin, d)
                                         : read_declaration(begin, d);
    return d;
  }

  // What a macro that stands alone declares by its text, and by what it is given.
  source_item made_by(const macro& used, std::size_t begin, std::size_t end) const {
    source_item d{begin, end};
    d.is_marked = marks(file_[begin].text);
    for (const source_item& each : item_reader(used.body, macros_).read().all) {
      d.is_function = d.is_function || each.is_function;
      d.names.insert(d.names.end(), each.names.begin(), each.names.end());
    }
    add_names(begin + 1, end, d);
    if (std::ranges::count(used.body, "#", &token::text) == 0) return d;
    d.names.clear();  // they are pasted
    if (d.is_function && !d.is_marked) d.names = {file_[begin].text};
    return d;
  }

  std::size_t statement_end(std::size_t at) {
    constexpr std::array<std::string_view, 3> kOpen{"(", "[", "{"};
    while (at < file_.size() && !is(at, ";")) at = is_any(at, kOpen) ? group_end(at) : at + 1;
    return std::min(at + 1, file_.size());
  }
  std::size_t using_end(std::size_t begin, source_item& d) {
    const std::size_t end = statement_end(begin);
    if (is(begin + 2, "=") || is(begin + 2, "["))
      add_name(begin + 1, d);
    else if (!is(begin + 1, "namespace") && end > begin + 1)
      add_name(end - 2, d);
    return end;
  }
  std::size_t typedef_end(std::size_t begin, source_item& d) {
    const std::size_t end = statement_end(begin);
    add_names(begin + 1, end, d);
    return end;
  }

  // A function, a class or a variable.
  std::size_t read_declaration(std::size_t begin, source_item& d) {
    constexpr std::array<std::string_view, 6> kAfterNames{"(", "=", "[", ",", ";", "{"};
    constexpr std::array<std::string_view, 3> kGoesOn{",", "{", "catch"};
    const bool is_template = is(begin, "template");
    bool has_value = false, in_head = false;  // between the keyword of a class and its body
    std::size_t keyword = 0;                  // of a class
    for (std::size_t at = begin; at < file_.size(); ++at) {
      if (is(at, ";")) return at + 1;
      if (is(at, "}")) return std::max(at, begin + 1);
      if (is(at, "template") && is(at + 1, "<")) {
        at = angles_end(at + 1) - 1;
      } else if (is(at, "requires") && is(at + 1, "requires")) {
        at += 2;
        if (is(at, "(")) at = group_end(at);
        at = is(at, "{") ? group_end(at) - 1 : at - 1;
      } else if (is(at, "operator")) {
        d.is_operator = true;
      } else if (is(at, "(") || is(at, "[")) {
        const bool is_attribute = at == begin || is(at, "[") || is_any(at - 1, kAttributes);
        d.is_function = d.is_function || (!is_attribute && !has_value);
        at = group_end(at) - 1;
      } else if (is(at, "=")) {
        has_value = has_value || !d.is_operator;
      } else if (is(at, ":")) {
        in_head = false;
      } else if (is_any(at, kClasses) && !d.is_function) {
        if (keyword == 0) keyword = at + 1;
        in_head = true;
      } else if (is(at, "{")) {
        const std::size_t end = group_end(at);
        const bool is_body = d.is_function && !has_value;
        d.has_body = d.has_body || is_body || in_head;
        if (keyword > 0 && is(keyword - 1, "enum")) add_names(at, end, d);
        in_head = false;
        if (is_body && !is_any(end, kGoesOn)) return end;
        at = end - 1;
      } else if (is_kind(at, token_kind::word)) {
        d.is_marked = d.is_marked || marks(file_[at].text);
        if (in_head || is_any(at + 1, kAfterNames) || (is_template && is(at + 1, "<")))
          add_name(at, d);
        if (macro_used(at) != nullptr)  // KERNEL(name) {
          add_names(at + 2, group_end(at + 1), d);
      }
    }
    return file_.size();
  }

  static constexpr std::array<std::string_view, 2> kNotDeclared{"static_assert", "asm"};

  const std::vector<token>& file_;
  const macros& macros_;
  source_items found_;
};

}  // namespace

macros macros_in(const std::vector<token>& file) {
  macros found;
  for (const token& t : file) {
    if (t.kind != token_kind::directive) continue;
    const std::vector<token> words = tokens_of(t.text.substr(1));
    if (words.size() < 2 || words[0].text != "define") continue;
    const std::string_view name = words[1].text;
    macro m;
    auto body = words.begin() + 2;
    m.has_parameters = body != words.end() && body->text.starts_with('(') &&
                       body->text.data() == name.data() + name.size();
    if (m.has_parameters) body = std::ranges::find(body, words.end(), ")", &token::text);
    m.body.assign(body, words.end());
    found.insert_or_assign(name, std::move(m));
  }
  return found;
}

source_items items_in(const std::vector<token>& file, const macros& known) {
  return item_reader(file, known).read();
}

}  // namespace kzoo::compile
