#pragma once
// Reports inside a document. Between these two lines stands what the runner makes of the file, and
// nothing that anybody wrote by hand:
//
//   <!-- report: results/h200-ladder.json -->
//   <!-- /report -->
//
// at the left margin.

#include <filesystem>
#include <string>

namespace kzoo::test {

// The document with every such part made anew. Files are looked up in `folder`.
std::string with_reports(const std::string& document, const std::filesystem::path& folder);

}  // namespace kzoo::test
