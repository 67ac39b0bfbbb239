#include "support/doc_reports.hpp"

#include "report/report.hpp"
#include "storage/read.hpp"

#include <stdexcept>
#include <string_view>

namespace kzoo::test {

std::string with_reports(const std::string& document, const std::filesystem::path& folder) {
  constexpr std::string_view kOpen = "<!-- report: ", kOpened = " -->", kClose = "<!-- /report -->";
  std::string out;
  std::size_t at = 0;
  for (;;) {
    std::size_t open = document.find(kOpen, at);
    // Not at the left margin, the marker is only mentioned in the text.
    while (open != std::string::npos && open > 0 && document[open - 1] != '\n') {
      open = document.find(kOpen, open + 1);
    }
    if (open == std::string::npos) return out + document.substr(at);
    const std::size_t name = open + kOpen.size();
    const std::size_t name_end = document.find(kOpened, name);
    const std::size_t close = document.find(kClose, name);
    if (close == std::string::npos || name_end > close) {
      throw std::runtime_error("a report in the document has no <!-- /report -->");
    }
    const std::string file = document.substr(name, name_end - name);
    out += document.substr(at, name_end + kOpened.size() - at) + '\n' +
           report::full_report(storage::read(folder / file), report::medium::markdown);
    at = close;
  }
}

}  // namespace kzoo::test
