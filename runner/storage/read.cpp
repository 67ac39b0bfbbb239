#include "storage/read.hpp"

#include "input/diagnostics.hpp"
#include "input/read_file.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>

#include <fstream>
#include <istream>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::storage {
namespace {

// A stream that replays its beginning, since a pipe cannot be read twice.
class rewound final : public std::streambuf {
 public:
  rewound(std::string beginning, std::istream& rest)
      : beginning_(std::move(beginning)), rest_(rest) {
    setg(beginning_.data(), beginning_.data(), beginning_.data() + beginning_.size());
  }

 protected:
  int_type underflow() override {
    rest_.read(chunk_.data(), static_cast<std::streamsize>(chunk_.size()));
    setg(chunk_.data(), chunk_.data(), chunk_.data() + rest_.gcount());
    return rest_.gcount() > 0 ? traits_type::to_int_type(chunk_.front()) : traits_type::eof();
  }

 private:
  static constexpr std::size_t kChunk = 1 << 16;
  std::string beginning_;
  std::istream& rest_;
  std::vector<char> chunk_ = std::vector<char>(kChunk);
};

// The first line with its line break; cut off if it is longer than any journal's.
std::string first_line(std::istream& in) {
  constexpr std::size_t kLongest = 64 << 20;
  std::string line;
  for (int c = 0; line.size() < kLongest && c != '\n';) {
    c = in.get();
    if (c == std::istream::traits_type::eof()) break;
    line.push_back(static_cast<char>(c));
  }
  return line;
}

// `beginning`: the first line.
void refuse_if_no_json(const std::string& file, const std::string& beginning) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::string_view text = beginning;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_empty = first == std::string_view::npos && !text.ends_with('\n');
  const bool is_other = first != std::string_view::npos && text[first] != '{' && text[first] != '[';
  if (is_empty || is_other) {
    input::refuse(file, fmt::format("holds no results: it is {}; {}",
                                    is_empty ? "empty" : "no JSON", kResultFiles));
  }
}

// Calls f with the first line of a file and with the whole file as a stream.
template <class F>
auto read_with(const std::filesystem::path& path, const F& f) {
  constexpr input::file_kind kResultFile{"a result file", ".json or .jsonl", 0};
  std::ifstream file = input::open_file(path, kResultFile);
  const std::string beginning = first_line(file);
  rewound whole(beginning, file);
  std::istream in(&whole);
  const auto refuse_if_broken = [&] {
    if (file.bad()) input::refuse(path.string(), "cannot be read to its end");
  };
  try {
    auto result = f(beginning, in);
    refuse_if_broken();  // a read error looks like the end
    return result;
  } catch (const input::invalid&) {
    refuse_if_broken();
    throw;
  }
}

}  // namespace

results::document read(const std::filesystem::path& path) {
  return read_with(path, [&](const std::string& beginning, std::istream& in) {
    refuse_if_no_json(path.string(), beginning);
    return is_journal_head(beginning) ? read_journal(in, path.string()).results
                                      : read_document(in, path.string());
  });
}

journal_content read_journal_file(const std::filesystem::path& path) {
  return read_with(path, [&](const std::string& beginning, std::istream& in) {
    if (!is_journal_head(beginning)) input::refuse(path.string(), "is not the journal of a run");
    return read_journal(in, path.string());
  });
}

}  // namespace kzoo::storage
