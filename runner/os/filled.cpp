#include "os/assets.hpp"

#include "os/text.hpp"

#include <fmt/format.h>

#include <ranges>
#include <regex>
#include <stdexcept>

namespace kzoo {
namespace {

using scopes = std::vector<const holes*>;  // the innermost last

class filler {
 public:
  filler(std::string_view text, std::string& out) : text_(text), out_(out) {}

  void fill(std::size_t at, std::size_t end, const scopes& in) {
    static const std::regex kTag(R"(\{\{([#^>]?)([\w./]+)\}\})");
    const char* const begin = text_.data();
    for (std::cmatch tag; std::regex_search(begin + at, begin + end, tag, kTag);) {
      const auto found = at + std::size_t(tag.position()), length = std::size_t(tag.length());
      const std::string kind = tag[1], name = tag[2];
      out_ += text_.substr(at, found - at);
      at = kind.empty() ? found + length : behind(found, length);
      if (kind.empty()) {
        out_ += text_in(in, name);
      } else if (kind == ">") {
        const std::string_view other = asset(name);
        filler(other, out_).fill(0, other.size(), in);
      } else {
        const std::string closing = "{{/" + name + "}}";
        const std::size_t stop = text_.find(closing, at);
        for (const scopes& inner : repeated(in, name, kind == "^")) fill(at, stop, inner);
        at = behind(stop, closing.size());
      }
    }
    out_ += text_.substr(at, end - at);
  }

 private:
  // Behind a tag, and behind its line if it is alone there.
  std::size_t behind(std::size_t begin, std::size_t length) const {
    const bool alone =
        (begin == 0 || text_[begin - 1] == '\n') && text_.substr(begin + length, 1) == "\n";
    return begin + length + (alone ? 1 : 0);
  }

  static const std::string& text_in(const scopes& in, std::string_view name) {
    for (const holes* each : in | std::views::reverse)
      if (const auto at = each->texts.find(name); at != each->texts.end()) return at->second;
    throw std::out_of_range("a template has a hole " + std::string(name));
  }

  // A section's scopes, for each time that it appears.
  static std::vector<scopes> repeated(const scopes& in, const std::string& name, bool inverted) {
    std::vector<scopes> times;
    for (const holes* each : in | std::views::reverse) {
      const auto list = each->lists.find(name);
      if (list == each->lists.end()) continue;
      for (const holes& one : list->second) {
        times.push_back(in);
        times.back().push_back(&one);
      }
      return times;
    }
    if (text_in(in, name).empty() == inverted) times.push_back(in);
    return times;
  }

  std::string_view text_;
  std::string& out_;
};

}  // namespace

std::string filled(std::string_view name, const holes& values) {
  std::string out;
  const std::string_view text = asset(name);
  filler(text, out).fill(0, text.size(), {&values});
  return out;
}

text_table asset_table(std::string_view name) {
  text_table all;
  for (const std::string& line : lines_of(asset(name))) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t end = line.find(" |");
    if (end == std::string::npos)
      throw std::logic_error(fmt::format("{} has a line without |: {}", name, line));
    all.emplace_back(line.substr(0, end), trimmed(std::string_view(line).substr(end + 2)));
  }
  return all;
}

}  // namespace kzoo
