#include "html/page.hpp"

#include "os/files.hpp"
#include "os/text.hpp"
#include "report/launches.hpp"
#include "report/page.hpp"
#include "xray/counters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kzoo::html {
namespace {

using report::style;
using xray::analysed;
using xray::line_counts;

// A source line in a cell's launch, with its excess over the ideal.
struct costly_line {
  const analysed* cell;
  const line_counts* line;
  std::uint64_t excess() const { return line->counts.excess(); }
};

// The lines with advice, the costliest first.
std::vector<costly_line> costly_lines(const xray::document& d) {
  std::vector<costly_line> all;
  for (const analysed& c : d.cells) {
    if (!c.found) continue;
    for (const xray::launch& l : *c.found)
      for (const line_counts& line : l.lines)
        if (advice_on(line)) all.push_back({&c, &line});
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &costly_line::excess);
  return all;
}

std::string where(const analysed& c) {
  return fmt::format("{} on {}", c.kernel.name(), problem_name(c.problem));
}

// A cell's fault in a word, and in a sentence.
struct flaw {
  std::string what, sentence;
};
std::vector<flaw> flaws_of(const xray::document& d) {
  std::vector<flaw> all;
  for (const analysed& c : d.cells) {
    if (!c.found) {
      if (is_declined(c.verdict)) continue;
      const std::string what(name_of(c.verdict));
      all.push_back({what, fmt::format("{}: {}: {}", where(c), what, c.reason)});
      continue;
    }
    for (const xray::launch& l : *c.found) {
      for (const xray::finding& f : l.findings) {
        all.push_back({f.what, fmt::format("{}, {}: {}: {} ({} times); {}", where(c), f.places(),
                                           f.what, f.detail, f.count, f.advice)});
      }
    }
  }
  return all;
}

// The sentence without flaws; empty if nothing was counted.
std::string nothing_found(const xray::document& d) {
  bool counted = false, whole = true;
  for (const analysed& c : d.cells) {
    counted = counted || c.found;
    for (std::size_t i = 0; c.found && i < c.found->size(); ++i) {
      const xray::launch& l = (*c.found)[i];
      whole = whole && l.blocks_run >= l.blocks && l.error.empty();
    }
  }
  if (!counted) return "";
  return fmt::format("No race, no uninitialised read and no access out of bounds was found{}.",
                     whole ? "" : " in the blocks that were run");
}

void add_answer(const xray::document& d, const std::vector<costly_line>& costly,
                const text_sink& out) {
  const std::vector<flaw> flaws = flaws_of(d);
  std::vector<std::string> kinds;
  for (const flaw& f : flaws) add_once(kinds, f.what);
  const std::string none = nothing_found(d);
  const std::string verdict_text =
      flaws.empty() ? none : fmt::format("Wrong: {}.", fmt::join(kinds, ", "));
  const std::string cost =
      none.empty() ? "Nothing was counted."
      : costly.empty()
          ? "No line takes a quarter more sectors or wavefronts than its bytes need."
          : fmt::format("{}, {}, costs most: {}.", process::place_text(costly.front().line->where),
                        name_of(costly.front().line->kind), *advice_on(*costly.front().line));
  out(fmt::format("<p class=\"answer\">{} {}</p>\n",
                  report::html(verdict_text, flaws.empty() ? style::good : style::bad),
                  report::html(cost)));
  for (const flaw& f : flaws)
    out(fmt::format("<p class=\"failure\">{}</p>\n", report::html(f.sentence)));
  out("<p class=\"item\">Counted in the simulator, access by access.</p>\n");
}

void add_costly(const std::vector<costly_line>& costly, bool alone, const report::view& view,
                const text_sink& out) {
  constexpr std::size_t kMost = 10;
  constexpr auto kLeft = report::table::align::left;
  if (costly.empty()) return;
  report::table t;
  for (std::size_t i = 0; i < std::min(costly.size(), kMost); ++i) {
    const auto& [cell, line] = costly[i];
    const auto& counts = line->counts;
    const std::string each =
        fmt::format("{:.2f} {}", counts.passes_each(), passes_name(line->kind));
    t.add_entries({{"line", process::place_text(line->where), kLeft},
                   {"access", std::string(name_of(line->kind)), kLeft},
                   {"each takes", {each, style::bold}},
                   {"ideal", fmt::format("{:.2f}", counts.ideal_each())},
                   {"too many", fmt::format("{}", costly[i].excess())},
                   {"requests", fmt::format("{}", counts.requests)},
                   {"kernel", alone ? "" : cell->kernel.name(), kLeft},
                   {"problem", alone ? "" : problem_name(cell->problem), kLeft}});
  }
  report::page p(view);
  p.line("The lines that cost most", style::bold);
  p.add(t);
  out(p.take());
}

struct known_line {
  std::vector<const line_counts*> accesses;
  std::vector<std::string> flaws;

  // Sectors and wavefronts beyond the ideal, of accesses with advice.
  std::uint64_t excess() const {
    std::uint64_t sum = 0;
    for (const line_counts* c : accesses)
      if (advice_on(*c)) sum += c->counts.excess();
    return sum;
  }
};
using lines_of_file = std::map<unsigned, known_line>;

std::map<std::string, lines_of_file> files_of(const xray::launch& l) {
  std::map<std::string, lines_of_file> files;
  for (const line_counts& line : l.lines)
    files[line.where.file][line.where.line].accesses.push_back(&line);
  for (const xray::finding& f : l.findings) {
    const auto with = [&](const xray::source_frame& other) {
      return f.what + (other.line == 0 ? "" : " with " + process::place_text(other)) + ": " +
             f.detail;
    };
    files[f.where.file][f.where.line].flaws.push_back(with(f.earlier));
    const bool elsewhere = f.earlier.line != f.where.line || f.earlier.file != f.where.file;
    if (f.earlier.line != 0 && elsewhere)
      files[f.earlier.file][f.earlier.line].flaws.push_back(with(f.where));
  }
  return files;
}

void add_access(const line_counts& c, const text_sink& out) {
  const auto advice = advice_on(c);
  std::string text = report::counts_text(c);
  for (const xray::source_frame& f : c.called) text += ", from " + process::place_text(f);
  out(fmt::format("<div class=\"about{}\">{}", advice ? " slow" : "", report::html(text)));
  if (advice) {
    out(fmt::format("<br>{}<br>{} of the lanes: <code>{}</code>", report::html(*advice),
                    picture_unit(c.kind), report::html(picture_of(c))));
  }
  out("</div>\n");
}

// A line of source, then its counts. `most`: the excess of the costliest line, to which the
// colour's strength is relative.
void add_line(unsigned number, const std::string& text, const known_line& known, std::uint64_t most,
              const text_sink& out) {
  constexpr std::uint64_t kFaintest = 8;  // percent
  const std::uint64_t excess = known.excess();
  const std::uint64_t heat =
      excess == 0 ? 0 : std::clamp<std::uint64_t>(100 * excess / most, kFaintest, 100);
  out(fmt::format("<div class=\"code\" style=\"--heat:{}%\"><span>{}</span><code>{}</code></div>\n",
                  heat, number, report::html(text)));
  for (const std::string& flaw : known.flaws)
    out(fmt::format("<div class=\"about slow\">{}</div>\n", report::html(flaw, style::bad)));
  for (const line_counts* c : known.accesses) add_access(*c, out);
}

// The lines that access memory, with some around them.
void add_file(const std::string& file, const lines_of_file& known, std::uint64_t most,
              const text_sink& out) {
  constexpr unsigned kAround = 4;
  const std::vector<std::string> source = lines_of(content_of(file));
  out(fmt::format("<p class=\"item\">{}{}</p>\n<div class=\"source\">\n", report::html(file),
                  source.empty() ? " is not here any more" : ""));
  unsigned shown = 0;
  for (const auto& [at, here] : known) {
    const unsigned first = std::max(shown + 1, at > kAround ? at - kAround : 1);
    if (first > shown + 1) out("<div class=\"gap\">⋮</div>\n");
    const auto next = known.upper_bound(at);
    const unsigned last =
        std::max(at, std::min({at + kAround, unsigned(source.size()),
                               next == known.end() ? at + kAround : next->first - 1}));
    for (unsigned number = first; number <= last; ++number) {
      add_line(number, number <= source.size() ? source[number - 1] : "",
               number == at ? here : known_line{}, most, out);
    }
    shown = last;
  }
  out("</div>\n");
}

void add_source(const xray::document& d, std::uint64_t most, const text_sink& out) {
  for (const analysed& c : d.cells) {
    for (std::size_t i = 0; c.found && i < c.found->size(); ++i) {
      const auto files = files_of((*c.found)[i]);
      if (files.empty()) continue;
      out(fmt::format("<h3>{}{}</h3>\n", report::html(where(c)),
                      c.found->size() > 1 ? fmt::format(", launch {}", i + 1) : ""));
      for (const auto& [file, known] : files) add_file(file, known, most, out);
    }
  }
}

}  // namespace

void write_xray_page(const xray::document& d, const text_sink& out) {
  const std::string experiment = std::filesystem::path(d.experiment).filename().string();
  const std::string heading =
      (d.cells.size() == 1 ? where(d.cells.front()) : experiment) + ", access by access";
  page_parts page{heading, heading, {{"source", "Source"}, {"counts", "All counts"}}, ""};
  const text_sink add = [&](std::string_view text) { page.contents += text; };
  const std::vector<costly_line> costly = costly_lines(d);
  const report::view view(report::medium::html);
  add_answer(d, costly, add);
  add_costly(costly, d.cells.size() == 1, view, add);
  add("<section id=\"source\">\n<h2>Source</h2>\n");
  add_source(d, costly.empty() ? 0 : costly.front().excess(), add);
  add("</section>\n<section id=\"counts\">\n<h2>All counts</h2>\n");
  report::page p(view);
  report::add_xray(p, d);
  add(p.take() + "</section>\n");
  out(page_text(page));
}

}  // namespace kzoo::html
