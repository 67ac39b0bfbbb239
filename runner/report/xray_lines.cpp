#include "report/xray.hpp"

#include "xray/advice.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace kzoo::report {
namespace {

std::vector<std::string> source_of(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// "global load 4 B: 4096 requests, 4.00 sectors each (ideal 4.00)"
std::string counts_text(const xray::line_counts& l) {
  const auto& c = l.counts;
  const double n = double(c.requests);
  return fmt::format("{} {} B: {} requests, {:.2f} {} each (ideal {:.2f})", access_name(l.kind),
                     l.width, c.requests, double(c.passes) / n,
                     is_shared(l.kind) ? "wavefronts" : "sectors", double(c.ideal) / n);
}

void add_launch(page& p, const std::string& name, const xray::launch& l) {
  std::map<std::string, std::map<unsigned, std::vector<const xray::line_counts*>>> by_place;
  for (const xray::line_counts& line : l.lines)
    by_place[line.where.file][line.where.line].push_back(&line);
  for (const auto& [file, by_line] : by_place) {
    p.line(name, style::bold, fmt::format(" {}", file));
    const std::vector<std::string> source = source_of(file);
    std::vector<std::string> shown;
    for (const auto& [number, counts] : by_line) {
      const bool known = number >= 1 && number <= source.size();
      shown.push_back(fmt::format("{:5} | {}", number, known ? source[number - 1] : ""));
      for (const xray::line_counts* c : counts) {
        std::string from;
        for (const xray::source_frame& f : c->called)
          from += fmt::format("{}{}:{}", from.empty() ? ", from " : ", ",
                              std::filesystem::path(f.file).filename().string(), f.line);
        shown.push_back(fmt::format("      |   ^ {}{}", counts_text(*c), from));
        if (advice_on(*c).empty()) continue;
        shown.push_back(fmt::format("      |     {} of its lanes: {}",
                                    is_shared(c->kind) ? "banks" : "sectors", picture_of(*c)));
      }
    }
    p.verbatim(shown);
    p.end_section();
  }
}

}  // namespace

void add_xray_lines(page& p, const xray::document& d) {
  for (const xray::analysed& c : d.cells) {
    for (std::size_t i = 0; c.found && i < c.found->size(); ++i)
      add_launch(p, c.kernel.name(), (*c.found)[i]);
  }
}

}  // namespace kzoo::report
