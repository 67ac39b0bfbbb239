#pragma once
// Stored results as text, without files.

#include "report/report.hpp"
#include "storage/journal.hpp"
#include "storage/results_json.hpp"

#include <sstream>
#include <string>

namespace kzoo::test {

inline std::string document_text(const results::document& d) {
  std::string text;
  storage::write(d, [&](std::string_view piece) { text += piece; });
  return text;
}

inline results::document read_document(const std::string& text) {
  std::istringstream in(text);
  return storage::read_document(in, "r.json");
}

inline storage::journal_content read_journal(const std::string& text) {
  std::istringstream in(text);
  return storage::read_journal(in, "j.jsonl");
}

inline std::string csv_text(const results::document& d) {
  std::string text;
  report::write_csv(d, report::sort_key::none, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace kzoo::test
