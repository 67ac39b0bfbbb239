#include "source/items.hpp"

#include "os/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace kzoo::source {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class lexer {
 public:
  explicit lexer(std::string_view source) : source_(source) {}

  std::vector<token> all() {
    while (skip_space()) {
      const std::size_t begin = at_;
      const token_kind kind = skip_token();
      found_.push_back({kind, source_.substr(begin, at_ - begin)});
      begins_line_ = false;
    }
    return std::move(found_);
  }

 private:
  char here(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  bool is(std::string_view text) const { return source_.substr(at_).starts_with(text); }
  void skip_past(std::string_view text, std::size_t from) {
    const std::size_t end = source_.find(text, from);
    at_ = end == std::string_view::npos ? source_.size() : end + text.size();
  }

  bool skip_comment() {
    if (is("//"))
      at_ = std::min(source_.find('\n', at_), source_.size());
    else if (is("/*"))
      skip_past("*/", at_ + 2);
    else
      return false;
    return true;
  }

  bool skip_space() {
    constexpr std::string_view kBetweenTokens = " \t\r\n\f\v\\";
    while (at_ < source_.size()) {
      if (skip_comment()) continue;
      if (kBetweenTokens.find(source_[at_]) == std::string_view::npos) return true;
      begins_line_ = begins_line_ || source_[at_] == '\n';
      ++at_;
    }
    return false;
  }

  token_kind skip_token() {
    const char c = here();
    if (c == '#' && begins_line_) return skip_directive();
    if (c == '"' || c == '\'') return skip_literal(c);
    if (is_digit(c) || (c == '.' && is_digit(here(1)))) {
      while (is_in_word(here()) || here() == '.' || (here() == '\'' && is_in_word(here(1)))) ++at_;
      return token_kind::number;
    }
    if (!is_in_word(c)) {
      ++at_;
      return token_kind::symbol;
    }
    const std::size_t begin = at_;
    while (is_in_word(here())) ++at_;
    const std::string_view word = source_.substr(begin, at_ - begin);
    if (here() != '"' || !word.ends_with('R') || word.size() > 3) return token_kind::word;
    const std::size_t open = std::min(source_.find('(', at_), source_.size());
    skip_past(')' + std::string(source_.substr(at_ + 1, open - at_ - 1)) + '"', open);  // R"x(…)x"
    return token_kind::literal;
  }

  token_kind skip_literal(char quote) {
    for (++at_; at_ < source_.size() && here() != quote && here() != '\n'; ++at_)
      if (here() == '\\') ++at_;
    at_ = std::min(at_, source_.size());
    if (here() == quote) ++at_;
    return token_kind::literal;
  }

  token_kind skip_directive() {
    while (at_ < source_.size() && here() != '\n') {
      if (is("/*")) {
        skip_past("*/", at_ + 2);
      } else if (is("//")) {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else {
        at_ += is("\\\r\n") ? 3 : here() == '\\' ? 2 : 1;
      }
    }
    at_ = std::min(at_, source_.size());
    return token_kind::directive;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  bool begins_line_ = true;
  std::vector<token> found_;
};

// Whether it is (, [ or {.
bool opens_group(const token& t) {
  return t.kind == token_kind::symbol && (t.text == "(" || t.text == "[" || t.text == "{");
}

}  // namespace

std::vector<token> tokens_of(std::string_view source) { return lexer(source).all(); }

std::optional<std::size_t> end_of_group(token_list all, std::size_t begin) {
  int depth = 0;
  std::vector<int> at_if;
  for (std::size_t at = begin; at < all.size(); ++at) {
    const token& t = all[at];
    if (t.kind == token_kind::directive) {
      const std::string_view directive = trimmed(t.text.substr(1));
      if (directive.starts_with("if")) at_if.push_back(depth);
      if (directive.starts_with("el") && at_if.empty()) return at;
      if (directive.starts_with("el")) depth = at_if.back();
      if (directive.starts_with("endif") && !at_if.empty()) at_if.pop_back();
    } else if (opens_group(t)) {
      ++depth;
    } else if ((t.text == ")" || t.text == "]" || t.text == "}") && --depth == 0) {
      return at + 1;
    }
  }
  return std::nullopt;
}

unsigned edited_text::line_of(std::size_t at) const {
  return 1 + static_cast<unsigned>(std::ranges::count(source_.substr(0, at), '\n'));
}

void edited_text::replace(std::size_t begin, std::size_t end, std::string_view by,
                          std::string_view line_end) {
  text_ += source_.substr(copied_, begin - copied_);
  text_ += by;
  for (auto lines = std::ranges::count(source_.substr(begin, end - begin), '\n'); lines > 0;
       --lines)
    text_ += line_end;
  copied_ = end;
}

std::size_t replace_dynamic_shared(std::span<const token> tokens, std::size_t at,
                                   edited_text& text) {
  constexpr std::array<std::string_view, 5> kNoType{"extern", "__shared__", "__align__", "alignas",
                                                    "__attribute__"};
  const auto is_no_type = [&](std::size_t i) {
    return i < tokens.size() && std::ranges::count(kNoType, tokens[i].text) > 0;
  };
  if (tokens[at].text != "extern" || !is_no_type(at + 1)) return at;
  const auto rest = tokens.subspan(at);
  const auto end = std::ranges::find(rest, ";", &token::text);
  if (end == rest.end()) return at;
  const auto statement = rest.first(static_cast<std::size_t>(end - rest.begin()) + 1);
  const auto extent = std::ranges::find(statement, "[", &token::text);
  const auto name_at = static_cast<std::size_t>(extent - statement.begin()) - 1;
  if (extent == statement.end() || (extent + 1)->text != "]") return at;
  if (std::ranges::count(statement, "__shared__", &token::text) == 0) return at;
  std::size_t type = 0;
  while (type < name_at && is_no_type(at + type)) {
    ++type;
    if (statement[type].text == "(") type = end_of_group(statement, type).value_or(type);
  }
  if (type >= name_at) return at;
  const token &name = statement[name_at], &last = statement.back();
  const auto in_one_line = [&](std::size_t from, std::size_t to) {
    std::string part(trimmed(text.between(from, to)));
    std::ranges::replace(part, '\n', ' ');
    return part;
  };
  const std::string element = in_one_line(text.begin_of(statement[type]), text.begin_of(name));
  const std::string rows = in_one_line(text.end_of(*(extent + 1)), text.begin_of(last));
  text.replace(
      text.begin_of(statement[0]), text.end_of(last),
      rows.empty()
          ? fmt::format("{0}* {1} = kzoo::dynamic_shared<{0}>();", element, name.text)
          : fmt::format("auto* {1} = reinterpret_cast<{0}(*){2}>(kzoo::dynamic_shared<{0}>());",
                        element, name.text, rows));
  return at + statement.size() - 1;
}

std::string with_dynamic_shared(std::string_view source) {
  edited_text text(source);
  const std::vector<token> tokens = tokens_of(source);
  for (std::size_t at = 0; at < tokens.size(); ++at) at = replace_dynamic_shared(tokens, at, text);
  return text.text();
}

namespace {

template <class List>
bool is_one_of(std::string_view word, const List& list) {
  return std::ranges::find(list, word) != list.end();
}

constexpr std::array<std::string_view, 7> kMarks{
    "__global__", "__device__", "__constant__", "__shared__", "constexpr", "consteval", "const"};
constexpr std::array<std::string_view, 4> kClasses{"class", "struct", "union", "enum"};
// Parentheses after these words hold no parameters.
constexpr std::array<std::string_view, 10> kAttributes{
    "__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__align__", "alignas",
    "__attribute__",     "__declspec",  "decltype",         "noexcept",  "requires"};

// Facts about macros, each looked at once.
struct macro_facts {
  const macros& all;
  std::set<std::string_view> marking;  // these, and kMarks
  std::map<const macro*, source_item> declared{};
  int depth = 0;
};

std::set<std::string_view> marking(const macros& all) {
  std::map<std::string_view, std::vector<std::string_view>> users;
  for (const auto& [name, m] : all)
    for (const token& t : m.body) users[t.text].push_back(name);
  std::set<std::string_view> found(kMarks.begin(), kMarks.end());
  std::vector<std::string_view> waiting(kMarks.begin(), kMarks.end());
  while (!waiting.empty()) {
    const std::string_view word = waiting.back();
    waiting.pop_back();
    for (const std::string_view user : users[word])
      if (found.insert(user).second) waiting.push_back(user);
  }
  return found;
}

class item_reader {
 public:
  item_reader(const std::vector<token>& file, macro_facts& known) : file_(file), macros_(known) {}

  source_items read() {
    for (std::size_t at = 0; at < file_.size();) {
      if (is_directive(at) || is_any(at, kBetweenItems)) {
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

  // Past the end of the group; notes the first group without an end.
  std::size_t group_end(std::size_t begin) {
    if (const auto end = end_of_group(file_, begin)) return *end;
    if (found_.open == nullptr) found_.open = &file_[begin];
    return file_.size();
  }

  // Whether the two symbols are one, such as <<.
  bool is_pair(std::size_t at, std::string_view first, std::string_view second) const {
    return is(at, first) && is(at + 1, second) &&
           file_[at].text.data() + 1 == file_[at + 1].text.data();
  }

  // Behind the parameters of a template.
  std::size_t angles_end(std::size_t begin) {
    int depth = 0;
    for (std::size_t at = begin; at < file_.size(); ++at) {
      if (is(at, ";")) return at;
      if (is(at, "(")) at = group_end(at) - 1;
      if (is_pair(at, "<", "<") || is_pair(at, "<", "=") || is_pair(at, ">", "=") ||
          is_pair(at, "-", ">"))
        ++at;
      else if (is(at, "<"))
        ++depth;
      else if (is(at, ">") && --depth == 0)
        return at + 1;
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
    if (!is_kind(at, token_kind::word)) return nullptr;
    const auto known = macros_.all.find(file_[at].text);
    if (known == macros_.all.end()) return nullptr;
    return is(at + 1, "(") || !known->second.has_parameters ? &known->second : nullptr;
  }
  const macro* call_used(std::size_t at) const {
    const macro* used = macro_used(at);
    return used != nullptr && used->has_parameters ? used : nullptr;
  }

  bool marks(std::string_view word) const { return macros_.marking.contains(word); }

  source_item item_from(std::size_t begin) {
    if (is(begin, "{")) return {begin, group_end(begin)};  // its head is in another branch of #if
    if (const macro* used = macro_used(begin)) {
      const std::size_t end = used->has_parameters ? group_end(begin + 1) : begin + 1;
      if (std::ranges::count(used->body, "{", &token::text) !=
          std::ranges::count(used->body, "}", &token::text))
        return {begin, end};
      if (used->has_parameters && !is(end, "{")) return made_by(*used, begin, end);
    }
    source_item d{begin};
    d.last = is_any(begin, kNotDeclared) ? statement_end(begin)
             : is(begin, "using")        ? using_end(begin, d)
             : is(begin, "typedef")      ? typedef_end(begin, d)
                                         : read_declaration(begin, d);
    return d;
  }

  // Declarations of a macro that stands alone: of its text, and of its arguments.
  source_item made_by(const macro& used, std::size_t begin, std::size_t end) const {
    source_item d = declared_by(used);
    d.first = begin;
    d.last = end;
    d.is_marked = marks(file_[begin].text);
    add_names(begin + 1, end, d);
    if (std::ranges::count(used.body, "#", &token::text) == 0) return d;
    d.names.clear();  // they are pasted
    if (d.is_function && !d.is_marked) d.names = {file_[begin].text};
    return d;
  }

  // Declarations in a macro's text; none if the macro contains itself.
  const source_item& declared_by(const macro& used) const {
    constexpr int kDeepest = 32;
    const auto [found, is_new] = macros_.declared.try_emplace(&used);
    source_item& d = found->second;
    if (!is_new || macros_.depth == kDeepest) return d;
    ++macros_.depth;
    const source_items inside = item_reader(used.body, macros_).read();
    --macros_.depth;
    std::set<std::string_view> names;
    for (const source_item& each : inside.all) {
      d.is_function = d.is_function || each.is_function;
      names.insert(each.names.begin(), each.names.end());
    }
    d.names.assign(names.begin(), names.end());
    return d;
  }

  std::size_t statement_end(std::size_t at) {
    while (at < file_.size() && !is(at, ";")) at = opens_group(file_[at]) ? group_end(at) : at + 1;
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
    std::size_t keyword = 0;                  // the position of a class's keyword
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
        const std::size_t end = group_end(at);
        const bool is_attribute = at == begin || is(at, "[") || is_any(at - 1, kAttributes) ||
                                  (in_head && is_kind(end, token_kind::word) &&
                                   !is_any(end, kAttributes));  // struct ALIGN(16) four
        d.is_function = d.is_function || (!is_attribute && !has_value);
        at = end - 1;
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
        const bool is_attribute = in_head && macro_used(at) != nullptr;
        if (!is_attribute &&
            (in_head || is_any(at + 1, kAfterNames) || (is_template && is(at + 1, "<"))))
          add_name(at, d);
        if (call_used(at) != nullptr)  // KERNEL(name) {
          add_names(at + 2, group_end(at + 1), d);
      }
    }
    return file_.size();
  }

  static constexpr std::array<std::string_view, 2> kNotDeclared{"static_assert", "asm"};
  static constexpr std::array<std::string_view, 4> kBetweenItems{";", "}", ")", "]"};

  const std::vector<token>& file_;
  macro_facts& macros_;
  source_items found_;
};

}  // namespace

macros macros_in(const std::vector<token>& file) {
  macros defined;
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
    defined.insert_or_assign(name, std::move(m));
  }
  return defined;
}

source_items items_in(const std::vector<token>& file, const macros& known) {
  macro_facts facts{known, marking(known)};
  return item_reader(file, facts).read();
}

}  // namespace kzoo::source
