#include "storage/read.hpp"

#include "input/read_file.hpp"
#include "storage/journal.hpp"
#include "storage/results_json.hpp"

#include <string>

namespace kzoo::storage {

results::document read(const std::filesystem::path& path) {
  constexpr input::file_kind kResultFile{"a result file", ".json or .jsonl", 1024};
  const std::string file = path.string();
  const std::string text = input::read_file(path, kResultFile);
  if (is_journal(text)) return read_journal(text, file).results;
  return from_text(text, file);
}

}  // namespace kzoo::storage
