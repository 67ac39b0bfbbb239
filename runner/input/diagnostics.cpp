#include "input/diagnostics.hpp"

#include "os/text.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <tuple>

namespace kzoo::input {
namespace {

std::string_view line_of(std::string_view text, unsigned line) {
  for (; line > 1; --line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

// The source line, and a caret under the column. Columns count code points.
std::string excerpt(std::string_view line, const location& where) {
  constexpr std::size_t kLongest = 200;
  if (line.empty() || line.size() > kLongest) return {};
  std::string shown, blank;
  unsigned column = 0;
  for (std::size_t at = 0; at < line.size();) {
    const auto [bytes, is_printable] = first_character(line.substr(at));
    at += bytes.size();
    shown += is_printable ? bytes : bytes == "\t" ? " " : "?";
    if (++column < where.column) blank += ' ';
  }
  const std::string gutter(fmt::formatted_size("{}", where.line), ' ');
  return fmt::format("\n {} | {}\n {} | {}^", where.line, shown, gutter, blank);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> older(b.size() + 1), old(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) old[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({old[j] + 1, now[j - 1] + 1, old[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], older[j - 2] + 1);
    }
    std::swap(older, old);
    std::swap(old, now);
  }
  return old[b.size()];
}

invalid cannot_be_read(const std::filesystem::path& path) {
  return invalid(error_text(
      path.string(),
      errno == ENOENT ? "there is no such file"
                      : fmt::format("cannot be read: {}", std::generic_category().message(errno))));
}

void refuse_folder(const std::filesystem::path& path, const file_kind& kind) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return;
  refuse(path.string(), "is a directory; name {} ({}) in it", kind.name, kind.suffix);
}

}  // namespace

std::string error_text(std::string_view where, std::string_view message) {
  return fmt::format("{}{}error: {}", where, where.empty() ? "" : ": ", message);
}

void refuse(std::string_view where, std::string_view message) {
  throw invalid(error_text(where, message));
}

std::string in_quotes(std::string_view text, char quote) {
  constexpr std::size_t kLongest = 60;
  std::string result(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    if (result.size() > kLongest) {
      result += "...";
      break;
    }
    const auto [bytes, is_printable] = first_character(text.substr(at));
    at += bytes.size();
    result += is_printable ? std::string(bytes) : bytes == "\n" ? "\\n" : escaped(bytes);
  }
  return result + quote;
}

std::optional<std::string> nearest(std::string_view found, const std::vector<std::string>& known) {
  constexpr std::size_t kLongest = 100, kShortestPrefix = 3;
  if (found.empty() || found.size() > kLongest) return std::nullopt;
  const std::string word = lower(found);
  std::optional<std::string> best;
  std::size_t best_distance = std::string::npos;
  for (const std::string& candidate : known) {
    const std::string other = lower(candidate);
    std::size_t d = distance(word, other);
    const bool begins = word.size() >= kShortestPrefix && other.starts_with(word);
    if (begins) d = std::min<std::size_t>(d, 1);
    // Allows a third of the letters to differ, or one in words of two or three letters.
    const std::size_t longest = std::max(word.size(), other.size());
    if (d <= std::max<std::size_t>(longest / 3, longest > 1) && d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view found, const std::vector<std::string>& known) {
  const auto word = nearest(found, known);
  return word ? fmt::format("; did you mean '{}'?", *word) : "";
}

diagnostics::diagnostics(std::string file, std::string_view text)
    : file_(std::move(file)), text_(text) {}

void diagnostics::error(const location& where, std::string message) {
  found_.push_back({where, std::move(message)});
}

std::string diagnostics::format(const entry& e) const {
  std::string result = error_text(to_string(e.where), e.message);
  if (e.where.line > 0) result += excerpt(line_of(text_, e.where.line), e.where);
  return result;
}

void diagnostics::throw_if_any() {
  if (found_.empty()) return;
  std::ranges::stable_sort(found_, {},
                           [](const entry& e) { return std::tuple(e.where.line, e.where.column); });
  std::string all;
  for (std::size_t i = 0; i < found_.size() && i < kShown; ++i)
    all += (i ? "\n" : "") + format(found_[i]);
  if (found_.size() > kShown)
    all += fmt::format("\n{}: and {} more errors", file_, found_.size() - kShown);
  throw invalid(all);
}

std::ifstream open_file(const std::filesystem::path& path, const file_kind& kind) {
  refuse_folder(path, kind);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw cannot_be_read(path);
  return file;
}

std::string read_file(const std::filesystem::path& path, const file_kind& kind) {
  std::ifstream file = open_file(path, kind);
  constexpr std::size_t kMebibyte = 1 << 20;
  std::string text;
  for (std::size_t got = kMebibyte; got == kMebibyte;) {
    if (text.size() > kind.most_mebibytes * kMebibyte) break;
    const std::size_t before = text.size();
    text.resize(before + kMebibyte);
    file.read(text.data() + before, kMebibyte);
    got = static_cast<std::size_t>(file.gcount());
    text.resize(before + got);
  }
  if (file.bad()) throw cannot_be_read(path);
  if (text.size() > kind.most_mebibytes * kMebibyte) {
    refuse(path.string(), "is larger than {} MiB, too large for {}", kind.most_mebibytes,
           kind.name);
  }
  return text;
}

}  // namespace kzoo::input
