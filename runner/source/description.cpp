#include "source/description.hpp"

#include "experiment/reader.hpp"
#include "experiment/tuning_space.hpp"
#include "input/diagnostics.hpp"
#include "os/text.hpp"
#include "source/files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <kzoo/manifest/expression.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace kzoo::source {
namespace {

namespace fs = std::filesystem;
using experiment::node;
using experiment::node_list;
using experiment::node_table;
using experiment::table_entry;

constexpr input::file_kind kSourceFile{"a source file", "", 16};
constexpr input::file_kind kManifestFile{"a manifest", ".toml", 1};

constexpr const char* kIdKey = "id";  // a variant's, which the point's name follows

bool is_plugin(std::string_view text) {
  return text.find("KZOO_PLUGIN") != std::string_view::npos ||
         text.find("kzoo_plugin_v1") != std::string_view::npos;
}

// A pipe has no end until somebody writes to it, and a device may have none.
void refuse_pipe_or_device(const fs::path& file, const std::string& name) {
  std::error_code fault;
  if (fs::is_other(fs::status(file, fault)))
    input::refuse(name, "is a pipe or a device, and no ordinary file");
}

// The text, and what the source includes by "…".
std::string with_headers_of(const fs::path& source, const std::string& text) {
  std::string all = text;
  std::error_code fault;
  for (const fs::path& file : source_and_headers(source))
    if (!fs::equivalent(file, source, fault)) all += input::read_file(file, kSourceFile);
  return all;
}

// The text with each name that has a value replaced by it.
std::string replaced(std::string_view text, const results::tuning_point& point) {
  std::string result;
  while (!text.empty()) {
    const auto end = static_cast<std::size_t>(
        std::ranges::find_if(text, [&](char c) { return is_in_word(c) != is_in_word(text[0]); }) -
        text.begin());
    const std::string_view word = text.substr(0, end);
    const auto known = std::ranges::find(point, word, &results::parameter_value::name);
    if (known == point.end())
      result += word;
    else
      result +=
          known->value < 0 ? fmt::format("({})", known->value) : fmt::format("{}", known->value);
    text.remove_prefix(end);
  }
  return result;
}

// A number where the text has become one: "BM * 2", say.
node replaced_node(const location& where, const std::string& text,
                   const results::tuning_point& point) {
  std::string with_values = replaced(text, point);
  if (with_values == text) return {where, text};
  try {
    return {where, manifest::expression::parse(with_values, {}).evaluate({})};
  } catch (const manifest::expression_fault&) {
    return {where, std::move(with_values)};
  }
}

void replace_in(node& n, const results::tuning_point& point) {
  if (const auto* text = std::get_if<std::string>(&n.value)) {
    n = replaced_node(n.where, *text, point);
  } else if (auto* list = std::get_if<node_list>(&n.value)) {
    for (node& element : *list) replace_in(element, point);
  } else if (auto* table = std::get_if<node_table>(&n.value)) {
    for (table_entry& e : *table)
      if (e.key != kIdKey) replace_in(e.content, point);
  }
}

bool mentions(const node& n, std::string_view name) {
  if (const auto* text = std::get_if<std::string>(&n.value)) return has_word(*text, name);
  if (const auto* list = std::get_if<node_list>(&n.value))
    return std::ranges::any_of(*list, [&](const node& e) { return mentions(e, name); });
  if (const auto* table = std::get_if<node_table>(&n.value))
    return std::ranges::any_of(*table,
                               [&](const table_entry& e) { return mentions(e.content, name); });
  return false;
}

void add_source_and_headers(const fs::path& source, std::set<fs::path>& known) {
  std::error_code fault;
  refuse_pipe_or_device(source, source.string());
  if (!fs::is_regular_file(source, fault) || !known.insert(fs::canonical(source)).second) return;
  std::string text;
  try {
    text = input::read_file(source, kSourceFile);
  } catch (const input::invalid&) {
    return;  // too large, or unreadable: the compiler has its own words for that
  }
  for (const auto& [name, quoted] : includes_in(text))
    if (quoted) add_source_and_headers(source.parent_path() / name, known);
}

bool tells_of_space(std::string_view line) {
  line = trimmed(line);
  return line.starts_with("//") && trimmed(line.substr(2)).starts_with("kzoo:");
}

// The code of a source and of what it includes by "…", without the lines that tell of the space.
std::string code_of(const fs::path& source) {
  std::string all;
  for (const fs::path& file : source_and_headers(source))
    for (const std::string& line : lines_of(input::read_file(file, kSourceFile)))
      if (!tells_of_space(line)) all += line + '\n';
  return all;
}

// "include <x>" of a line "# include <x>"; "" of others.
std::string_view directive_of(std::string_view line) {
  line = trimmed(line);
  return line.starts_with('#') ? trimmed(line.substr(1)) : "";
}

// Text that is compiled with any macros: outside of #if … #endif, except an include guard.
std::string unconditional(const std::string& text) {
  const std::vector<std::string> lines = lines_of(text);
  std::vector<std::string_view> first;  // directives
  for (auto at = lines.begin(); at != lines.end() && first.size() < 2; ++at)
    if (const auto directive = directive_of(*at); !directive.empty()) first.push_back(directive);
  const bool has_guard =
      first.size() == 2 && first[0].starts_with("ifndef") && first[1].starts_with("define");
  std::string all;
  int depth = has_guard ? -1 : 0;
  for (const std::string& line : lines) {
    const std::string_view directive = directive_of(line);
    if (directive.starts_with("if")) ++depth;
    if (depth <= 0) all += line + '\n';
    if (directive.starts_with("endif")) --depth;
  }
  return all;
}

// Adds the SDK's headers that the source includes in any case, itself or by what it includes by
// "…".
void add_sdk_headers(const fs::path& source, std::set<fs::path>& known,
                     std::vector<std::string>& headers) {
  std::error_code fault;
  if (!fs::is_regular_file(source, fault) || !known.insert(fs::canonical(source)).second) return;
  for (const auto& [name, quoted] :
       includes_in(unconditional(input::read_file(source, kSourceFile)))) {
    const fs::path beside = source.parent_path() / name;
    if (quoted && fs::exists(beside, fault))
      add_sdk_headers(beside, known, headers);
    else if (name.starts_with("kzoo/") && std::ranges::count(headers, name) == 0)
      headers.push_back(name);
  }
}

bool has_key(const node_table& keys, const char* key) {
  return std::ranges::count(keys, key, &table_entry::key) > 0;
}

std::string names_of(const std::vector<tensor_function>& functions) {
  return joined(functions, ", ", &tensor_function::name);
}

// The error for a source with kernels that does not describe their launches.
std::string no_launch(const std::string& name, const std::string& manifest,
                      const std::string& code) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> known;
  for (const std::string& words : suggested_descriptions(code)) add_once(known, words);
  if (known.size() > kMost) known.resize(kMost);
  return fmt::format(
      "{} has a kernel and no plugin: say how the kernel is launched in `// kzoo: entry=… grid=… "
      "block=… arguments=…` lines or in {} (docs/plugins.md#bare-kernels), or write a "
      "KZOO_PLUGIN{}{}{}",
      name, manifest, known.empty() ? "" : "; for its kernels such a line begins with `",
      fmt::join(known, "` or `"), known.empty() ? "" : "`");
}

// The only function of the source that takes tensors, or the one that the keys name.
std::optional<tensor_function> chosen_function(const description& d) {
  std::vector<tensor_function> functions = tensor_functions_in(d.text);
  std::string wanted;
  input::diagnostics report(d.file, d.text);
  experiment::table_reader keys(d.keys, "", report);
  keys.read(kFunctionKey, wanted, experiment::text);
  const bool is_named = !wanted.empty();
  report.throw_if_any();
  const std::string known = names_of(functions);
  if (is_named)
    std::erase_if(functions, [&](const tensor_function& f) {
      return f.name != wanted && !f.name.ends_with("::" + wanted);
    });
  else if (std::ranges::any_of(functions, &tensor_function::is_bound))
    std::erase_if(functions, [](const tensor_function& f) { return !f.is_bound; });
  if (functions.empty() && !is_named) return std::nullopt;
  if (functions.empty()) {
    input::refuse(d.file, "has no function {} that takes two or three tensors{}", wanted,
                  known.empty() ? "" : "; those that do: " + known);
  }
  if (functions.size() > 1) {
    input::refuse(d.file,
                  "has several functions that take tensors, {0}: name one in its first lines, `// "
                  "kzoo: function={1}`",
                  names_of(functions), functions.front().name);
  }
  const tensor_function& only = functions.front();
  const std::string where = fmt::format("{}:{}", d.file, only.line);
  if (only.flaw)
    input::refuse(where, "{} cannot be called for a product: {}", only.name, *only.flaw);
  return only;
}

}  // namespace

std::set<fs::path> source_and_headers(const fs::path& source) {
  std::set<fs::path> known;
  add_source_and_headers(source, known);
  return known;
}

std::string read_source(const fs::path& source, const std::string& name) {
  refuse_pipe_or_device(source, name);
  std::string text = input::read_file(source, kSourceFile);
  if (text.find('\0') != std::string::npos)
    input::refuse(name, "is no source: it has bytes of 0, as only other files have");
  if (source.extension() == ".py") return cuda_code_in(text);
  return text;
}

description describe(const fs::path& source, const std::string& name, const std::string& text) {
  const fs::path manifest = fs::path(source).replace_extension(".toml");
  const std::string with_headers = with_headers_of(source, text);
  const std::string& all = is_plugin(text) ? text : with_headers;
  const bool has_kernel = all.find("__global__") != std::string::npos;
  input::diagnostics report(name, text);
  description d{name, text, annotations(text, report), report.at(1, 1), !is_plugin(all)};
  report.throw_if_any();
  const bool says_entry = has_key(d.keys, "entry"), says_function = has_key(d.keys, kFunctionKey);
  std::error_code fault;
  if (d.is_bare && !says_entry && !says_function &&
      fs::symlink_status(manifest, fault).type() != fs::file_type::not_found) {
    d.file = manifest.string();
    refuse_pipe_or_device(manifest, d.file);
    d.text = input::read_file(manifest, kManifestFile);
    input::diagnostics of_manifest(d.file, d.text);
    d.keys = experiment::parse_document(d.text, of_manifest);
    d.top = of_manifest.at(1, 1);
    of_manifest.throw_if_any();
    return d;
  }
  if (d.is_bare && !says_entry) d.function = chosen_function(d);
  if (d.function) {
    d.is_bare = false;
    return d;
  }
  if (d.is_bare && has_kernel && !says_entry)
    input::refuse("", no_launch(name, manifest.filename().string(), all));
  d.is_bare = d.is_bare && has_kernel;
  return d;
}

std::optional<results::tuning_space> tuning_space_in(const description& d) {
  input::diagnostics report(d.file, d.text);
  experiment::table_reader keys(d.keys, "", report);
  const auto found = keys.find(kTuneKey);
  if (!found) return std::nullopt;
  auto space = experiment::read_tuning_space(*found);
  report.throw_if_any();
  return space;
}

void require_used(const results::tuning_space& space, const description& d,
                  const fs::path& source) {
  const std::string code = d.is_bare ? "" : code_of(source);
  for (const results::tuned_parameter& p : space.parameters) {
    const bool is_used =
        d.is_bare ? std::ranges::any_of(d.keys,
                                        [&](const table_entry& e) {
                                          return e.key != kTuneKey && mentions(e.content, p.name);
                                        })
                  : has_word(code, p.name);
    if (is_used) continue;
    input::refuse(
        p.where, "nothing uses the parameter {}: {}", p.name,
        d.is_bare
            ? fmt::format("the entry, grid, block and other keys of {} do not mention it", d.file)
            : fmt::format("{} and what it includes by \"\" do not mention it",
                          source.filename().string()));
  }
}

node_table with_values(node_table keys, const results::tuning_point& point) {
  for (table_entry& e : keys)
    if (e.key != kTuneKey && e.key != kIdKey) replace_in(e.content, point);
  return keys;
}

std::vector<std::string> definitions(const results::tuning_point& point) {
  std::vector<std::string> options;
  for (const auto& [name, value] : point) options.push_back(fmt::format("-D{}={}", name, value));
  return options;
}

std::string preamble(const fs::path& source, const results::tuning_point& point) {
  if (point.empty()) return "";
  std::set<fs::path> known;
  std::vector<std::string> headers;
  add_sdk_headers(source, known, headers);
  std::string text;
  for (const std::string& name : headers)  // one that is not there is the source's mistake
    text += fmt::format("#if __has_include(<{0}>)\n#include <{0}>\n#endif\n", name);
  for (const auto& [name, value] : point) text += fmt::format("#define {} {}\n", name, value);
  return text;
}

namespace {

constexpr std::string_view kKernel = "__global__";

// Resolves escaped quotes and backslashes; other escapes are C++'s as well.
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

}  // namespace kzoo::source
