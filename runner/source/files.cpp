#include "source/files.hpp"

#include "input/diagnostics.hpp"
#include "os/text.hpp"
#include "source/annotations.hpp"
#include "source/description.hpp"
#include "source/items.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <span>
#include <system_error>
#include <utility>

namespace kzoo::source {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code fault;
  return fs::is_regular_file(path, fault);
}

}  // namespace

std::vector<included> includes_in(std::string_view source) {
  constexpr std::string_view kInclude = "include";
  std::vector<included> all;
  for (const std::string& line : lines_of(source)) {
    std::string_view words = trimmed(line);
    if (!words.starts_with('#')) continue;
    words = trimmed(words.substr(1));
    if (!words.starts_with(kInclude)) continue;
    words = trimmed(words.substr(kInclude.size()));
    if (!words.starts_with('<') && !words.starts_with('"')) continue;
    const std::size_t end = words.find_first_of(">\"", 1);
    if (end == words.npos || end == 1) continue;
    all.push_back({std::string(words.substr(1, end - 1)), words[0] == '"'});
  }
  return all;
}

bool add_file(const fs::path& file, const fs::path& to, copied_files& files) {
  const auto [known, is_new] = files.try_emplace(to, file);
  if (is_new || fs::equivalent(known->second, file)) return is_new;
  input::refuse(file.string(), "would have the place of {} in a copy, {}", known->second.string(),
                to.string());
}

file_texts texts_of(const copied_files& files) {
  file_texts texts;
  for (const auto& [to, from] : files) texts[to] = read_source(from, from.string());
  return texts;
}

void add_text(const fs::path& to, std::string text, file_texts& files) {
  if (files.try_emplace(to, std::move(text)).second) return;
  input::refuse(to.string(),
                "would be both a header of the source's and a file that is written for the copy: "
                "rename the header, or the copy");
}

void add_with_headers(const fs::path& file, const fs::path& to,
                      const std::vector<include_folder>& folders, copied_files& files) {
  if (!add_file(file, to, files)) return;
  for (const auto& [name, quoted] : includes_in(read_source(file, file.string()))) {
    const fs::path beside = file.parent_path() / name;
    if (quoted && is_file(beside)) {
      const fs::path place = (to.parent_path() / name).lexically_normal();
      if (fs::path(name).is_absolute() || *place.begin() == "..") {
        input::refuse(file.string(),
                      "includes {}, which is outside of its folder: move that into the folder of "
                      "the source, so that both can be copied",
                      input::in_quotes(name));
      }
      add_with_headers(beside, place, folders, files);
      continue;
    }
    const auto found = std::ranges::find_if(
        folders, [&, &n = name](const include_folder& f) { return is_file(f.from / n); });
    if (found != folders.end())
      add_with_headers(found->from / name, (found->to / name).lexically_normal(), folders, files);
  }
}

namespace {

std::span<const token> tokens_of_item(const std::vector<token>& file, const source_item& d) {
  return std::span(file).subspan(d.first, d.last - d.first);
}

// Finds the needed items.
class need_search {
 public:
  need_search(const std::vector<token>& file, const macros& known,
              const std::vector<source_item>& declared)
      : file_(file), macros_(known), declared_(declared), is_needed_(declared.size()) {
    for (std::size_t i = 0; i < declared.size(); ++i) {
      const source_item& d = declared[i];
      if (d.is_marked) marked_.insert(d.names.begin(), d.names.end());
      for (const std::string_view name : d.names) by_name_[name].push_back(i);
    }
  }

  void mention(std::string_view word) {
    if (!mentioned_.insert(word).second) return;
    need_what_has(word);
    if (const auto known = macros_.find(word); known != macros_.end())
      waiting_.emplace_back(known->second.body);
  }
  // Marks everything with the name as needed, also a host function with a kernel's name.
  void need_each(std::string_view name) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return;
    for (const std::size_t i : found->second) need(i);
  }
  void call(std::string_view word) {
    if (called_.insert(word).second) need_what_has(word);
    mention(word);
  }

  bool is_mentioned(const source_item& d) const {
    return std::ranges::any_of(d.names, [&](auto name) { return mentioned_.contains(name); });
  }

  // Needed macros and items need everything that they mention.
  void go_on() {
    while (!waiting_.empty()) {
      const std::span<const token> next = waiting_.back();
      waiting_.pop_back();
      mention(next);
    }
  }

  const std::vector<bool>& needed() {
    for (std::size_t i = 0; i < declared_.size(); ++i) {
      const source_item& d = declared_[i];
      if (d.is_operator ? d.is_marked : d.names.empty()) need(i);
    }
    go_on();
    return is_needed_;
  }

 private:
  void mention(std::span<const token> tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind != token_kind::word) continue;
      const std::string_view next = i + 1 < tokens.size() ? tokens[i + 1].text : "";
      if (next == "(" || next == "<")
        call(tokens[i].text);
      else
        mention(tokens[i].text);
    }
  }

  void need(std::size_t item) {
    if (is_needed_[item]) return;
    is_needed_[item] = true;
    waiting_.push_back(tokens_of_item(file_, declared_[item]));
  }
  void need_what_has(std::string_view name) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return;
    for (const std::size_t i : found->second) {
      const source_item& d = declared_[i];
      // The host's function that launches a kernel may have its name.
      const bool is_enough =
          d.is_marked || !d.is_function || (called_.contains(name) && !marked_.contains(name));
      if (is_enough && !d.is_operator) need(i);
    }
  }

  const std::vector<token>& file_;
  const macros& macros_;
  const std::vector<source_item>& declared_;
  std::vector<bool> is_needed_;
  std::map<std::string_view, std::vector<std::size_t>> by_name_;
  std::set<std::string_view> mentioned_, called_, marked_;
  std::vector<std::span<const token>> waiting_;
};

// Leaves out all but the directives that count wherever they stand.
void leave_out(std::span<const token> declared, edited_text& text) {
  constexpr std::array<std::string_view, 4> kGo{"pragma", "include", "error", "warning"};
  std::size_t begin = text.begin_of(declared.front());
  for (const token& t : declared) {
    if (t.kind != token_kind::directive) continue;
    const std::string_view directive = trimmed(t.text.substr(1));
    if (std::ranges::any_of(kGo, [&](auto word) { return directive.starts_with(word); })) continue;
    text.replace(begin, text.begin_of(t), "");
    begin = text.end_of(t);
  }
  text.replace(begin, std::max(begin, text.end_of(declared.back())), "");
}

// Before `using namespace torch::indexing;`, for a header that is not here may be what declares it.
// `aliases`: no namespaces that could be opened.
void declare_namespace(std::span<const token> used, const std::set<std::string_view>& aliases,
                       edited_text& text) {
  if (used.size() < 4 || used[0].text != "using" || used[1].text != "namespace") return;
  if (used[2].kind != token_kind::word || aliases.contains(used[2].text)) return;
  const std::size_t begin = text.begin_of(used[0]);
  const std::string_view name = text.between(text.begin_of(used[2]), text.begin_of(used.back()));
  text.replace(begin, begin, fmt::format("namespace {} {{}} ", name));
}

std::set<std::string_view> namespace_aliases(const std::vector<token>& file) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i + 2 < file.size(); ++i)
    if (file[i].text == "namespace" && file[i + 2].text == "=") names.insert(file[i + 1].text);
  return names;
}

// Cuts all files as if they were one.
std::vector<cut_file> cut_together(const std::vector<std::string>& entries,
                                   std::vector<cut_file> files, const adaptation& to) {
  std::string joined;
  for (const cut_file& each : files) joined += each.code.text + '\n';
  const needed_code all = needed_by(entries, joined, {}, to);
  const std::vector<std::string> lines = lines_of(all.text);
  unsigned before = 0;  // lines of the files before
  for (cut_file& each : files) {
    const std::string whole = std::exchange(each.code.text, "");
    const auto count = static_cast<unsigned>(lines_of(whole + '\n').size());
    const auto is_here = [&](unsigned line) { return line > before && line <= before + count; };
    for (unsigned i = before; i < std::min<std::size_t>(before + count, lines.size()); ++i)
      each.code.text += lines[i] + '\n';
    each.code.is_whole = each.code.text == whole + '\n';
    if (all.open_line && is_here(*all.open_line)) each.code.open_line = *all.open_line - before;
    for (const unmarked_code& u : all.unmarked)
      if (is_here(u.first_line))
        each.code.unmarked.push_back({u.name, u.first_line - before, u.last_line - before});
    before += count;
  }
  return files;
}

}  // namespace

needed_code needed_by(const std::vector<std::string>& entries, std::string_view source,
                      const std::vector<std::string>& headers, const adaptation& to) {
  source = without_byte_order_mark(source);
  const std::vector<token> file = tokens_of(source);
  macros known = macros_in(file);
  for (const std::string& header : headers) known.merge(macros_in(tokens_of(header)));
  const source_items items = items_in(file, known);
  edited_text text(source);
  need_search all(file, known, items.all);
  const std::set<std::string_view> aliases = namespace_aliases(file);
  for (const std::string& entry : entries)
    for (const token& t : tokens_of(entry)) {
      if (to.for_host) all.need_each(t.text);
      all.call(t.text);
    }
  all.go_on();
  // A kernel with another name may be the one that is meant: the compiler finds it then.
  if (std::ranges::none_of(items.all, [&](const auto& d) { return all.is_mentioned(d); }))
    for (const source_item& d : items.all)
      if (d.is_marked)
        for (const std::string_view name : d.names) all.mention(name);
  for (const std::string& header : headers)
    for (const token& t : tokens_of(header)) all.mention(t.text);

  needed_code result;
  if (items.open != nullptr) result.open_line = text.line_of(text.begin_of(*items.open));
  const std::vector<bool>& needed = all.needed();
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const source_item& d = items.all[i];
    const auto tokens = tokens_of_item(file, d);
    if (!needed[i]) {
      leave_out(tokens, text);
      continue;
    }
    for (std::size_t at = 1; to.simulated && at < tokens.size(); ++at)
      at = replace_dynamic_shared(tokens, at, text);
    if (to.lacks_headers) declare_namespace(tokens, aliases, text);
    if (d.is_marked || !d.has_body || d.names.empty()) continue;
    result.unmarked.push_back({std::string(d.names.front()),
                               text.line_of(text.begin_of(tokens.front())),
                               text.line_of(text.begin_of(tokens.back()))});
  }
  result.text = text.text();
  result.is_whole = result.text == source;
  return result;
}

std::vector<cut_file> with_headers(const std::filesystem::path& source, std::string_view text) {
  std::vector<cut_file> files{{source, {std::string(without_byte_order_mark(text))}}};
  std::error_code fault;
  for (const std::filesystem::path& file : source_and_headers(source)) {
    if (std::filesystem::equivalent(file, source, fault)) continue;
    const std::string header = read_source(file, file.string());
    files.push_back({file, {std::string(without_byte_order_mark(header))}});
  }
  for (cut_file& each : files) each.code.is_whole = true;
  return files;
}

std::vector<cut_file> kernel_code(const manifest::described_kernels& kernels,
                                  const std::filesystem::path& source, std::string_view text,
                                  const adaptation& to) {
  std::vector<std::string> entries, headers;
  for (const manifest::described_variant& v : kernels.variants) entries.push_back(v.launch.entry);
  std::vector<cut_file> files = with_headers(source, text);
  if (to.cuts_headers) return cut_together(entries, std::move(files), to);
  for (std::size_t i = 1; i < files.size(); ++i) {
    std::string& header = files[i].code.text;
    headers.push_back(header);
    if (to.simulated) header = with_dynamic_shared(header);
    files[i].code.is_whole = header == headers.back();
  }
  files[0].code = needed_by(entries, text, headers, to);
  return files;
}

std::string without_includes(std::string_view text, const std::vector<std::string>& headers) {
  std::string without;
  for (const std::string& line : lines_of(text)) {
    const auto header = includes_in(line);
    const bool is_left_out = !header.empty() && std::ranges::count(headers, header[0].name) > 0;
    without += (is_left_out ? "" : line) + '\n';
  }
  return without;
}

}  // namespace kzoo::source
