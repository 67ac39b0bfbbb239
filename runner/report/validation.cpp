#include "core/version.hpp"
#include "report/terminal.hpp"

#include "os/output.hpp"
#include "reference/places.hpp"
#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kzoo::report {
namespace {

style style_of_outcome(results::outcome o) {
  return o == results::outcome::pass      ? style::good
         : o == results::outcome::skipped ? style::dim
                                          : style::bad;
}

// Padded before it is coloured, since colour codes have no width.
std::string word(const results::finding& f, bool colour) {
  const bool is_note = (f.check == results::kBatchInvariance || f.check == results::kSizes) &&
                       f.outcome == results::outcome::pass;
  return styled(fmt::format("{:<8}", is_note ? "note" : name_of(f.outcome)),
                is_note ? style::plain : style_of_outcome(f.outcome), colour);
}

// A finding's words without the problem that they may begin with: "1x1x1 f32: the kernel …".
std::string_view reason_in(std::string_view detail) {
  const std::size_t colon = detail.find(": ");
  const bool has_problem = colon != std::string_view::npos && !detail.empty() && detail[0] >= '1' &&
                           detail[0] <= '9' &&
                           detail.substr(0, detail.find(' ')).find('x') != std::string_view::npos;
  return has_problem ? detail.substr(colon + 2) : detail;
}

std::string plain(std::string_view text) { return styled(text, style::plain, false); }

}  // namespace

validation_text::validation_text(std::FILE* out)
    : out_(out), colour_(wants_colour(out)), columns_(view_of(out, {}).columns) {}

void validation_text::begins(const std::vector<run::loaded_plugin>& plugins,
                             const results::device& device, tier t) {
  print_to(out_, "tier {} on {} ({}), kernel-zoo {}\n", name_of(t), device.id, device.name,
           kVersion);
  for (const run::loaded_plugin& c : plugins) {
    if (c.record.description) {
      print_to(out_, "  {}: {}\n", plain(c.record.name), plain(c.record.file.string()));
    } else {
      print_to(out_, "  {} {}\n", styled("unavailable", style::bad, colour_),
               plain(c.record.problem));
    }
  }
}

void validation_text::starts(const results::validated_variant& v) {
  print_to(out_, "\n{} {}, declared {}\n", styled(v.kernel, style::bold, colour_),
           types_name(v.dtype), precision_name(v.declared));
  kernel_ = fmt::format("{} {}", v.kernel, types_name(v.dtype));
  std::fflush(out_);
}

void validation_text::takes(const results::validated_variant& v) {
  if (v.kind.empty()) return;
  print_to(out_, "  with {}\n", v.kind);
  kernel_ = fmt::format("{} {} with {}", v.kernel, types_name(v.dtype), v.kind);
}

std::string validation_text::sentence(const results::finding& f) {
  if (f.outcome == results::outcome::pass || f.outcome == results::outcome::skipped || f.errors)
    return f.detail;
  const std::string_view reason = reason_in(f.detail);
  const auto [known, is_new] =
      said_.try_emplace(std::string(reason), fmt::format("{}, {}", kernel_, f.check));
  if (is_new) return f.detail;
  std::string where = known->second;
  if (where.starts_with(kernel_ + ", ")) where.erase(0, kernel_.size() + 2);
  return fmt::format("{}as in \"{}\"", f.detail.substr(0, f.detail.size() - reason.size()), where);
}

void validation_text::found(const results::finding& f) {
  constexpr std::size_t kWords = 28;  // the column that they begin in
  const auto lines = folded(sentence(f), std::min(columns_, kWidestProse) - kWords);
  print_to(out_, "  {} {:<16} {}\n", word(f, colour_), plain(f.check),
           fmt::join(lines, '\n' + std::string(kWords, ' ')));
  if (f.errors) {
    for (const std::string& line : reference::lines_of(*f.errors))
      print_to(out_, "      {}\n", line);
  }
  std::fflush(out_);
}

void validation_text::ends(const results::validation& v) {
  std::map<results::outcome, int> counts;
  for (const results::validated_variant& one : v.variants)
    for (const results::finding& f : one.findings) ++counts[f.outcome];
  counts.try_emplace(results::outcome::pass);
  std::string text;
  for (const auto& [o, count] : counts) add_item(text, fmt::format("{} {}", count, name_of(o)));
  results::coverage covered;
  for (const results::validated_variant& one : v.variants) covered.add(one.kernel, one.findings);
  print_to(out_, "\n");
  for (const results::gap& g : covered.gaps()) {
    print_to(out_, "{} {}\n", styled("not checked:", style::bad, colour_),
             plain(results::to_string(g)));
  }
  const closing_words closing = results::nothing_ran(v)
                                    ? closing_words{"NOTHING RAN", style::bad}
                                    : closing_words_for(results::exit_code(v) == 0, covered);
  print_to(out_, "{}: {} · {:.1f} s\n", styled(closing.words, closing.look, colour_), text,
           v.wall_seconds);
}

void validation_text::is_interrupted() {
  print_to(out_, "\n{}\n", styled("INTERRUPTED", style::bad, colour_));
}

}  // namespace kzoo::report
