#include "results/read.hpp"

#include "experiment/read_file.hpp"
#include "results/journal.hpp"
#include "results/json.hpp"
#include "results/parse.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace kzoo::results {

document read(const std::filesystem::path& path) {
  constexpr experiment::file_kind kResultFile{"a result file", ".json or .jsonl", 1024};
  const std::string file = path.string();
  const std::string text = experiment::read_file(path, kResultFile);
  if (is_journal(text)) return read_journal(text, file).results;
  return from_json(parse(text, {file, 1}), file);
}

}  // namespace kzoo::results
