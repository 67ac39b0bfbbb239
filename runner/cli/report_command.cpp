#include "cli/earlier_result.hpp"
#include "cli/exports.hpp"
#include "html/page.hpp"
#include "os/output.hpp"
#include "os/places.hpp"
#include "report/focus.hpp"
#include "report/report.hpp"
#include "report/terminal.hpp"
#include "storage/read.hpp"

#include "input/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::cli {
namespace {

// Names that distinguish the results, as far as possible.
std::vector<std::string> labels_of(const std::vector<results::document>& all) {
  const auto name_of = [](const results::document& d, bool with_time) {
    return report::title_of(d.experiment) + ", " + d.device.name +
           (with_time ? ", " + d.started : "");
  };
  std::vector<std::string> labels;
  for (const results::document& d : all) {
    const auto same = std::ranges::count_if(all, [&](const results::document& other) {
      return name_of(other, false) == name_of(d, false);
    });
    std::string label = name_of(d, same > 1);
    for (int copy = 2; std::ranges::find(labels, label) != labels.end(); ++copy)
      label = fmt::format("{} ({})", name_of(d, true), copy);
    labels.push_back(std::move(label));
  }
  return labels;
}

struct labelled_results {
  std::vector<results::document> all;
  std::vector<std::string> labels;
  std::optional<earlier_result> before;  // for a single result about one plugin

  explicit labelled_results(const std::vector<std::string>& files) {
    for (const std::string& file : files) all.push_back(storage::read(file));
    labels = labels_of(all);
  }
  void look_for_earlier(const std::string& file) {
    const std::string subject = report::focus_of(all.front()).subject;
    if (!subject.empty()) before = find_earlier(file, all.front(), subject);
  }
  std::vector<html::named_result> named() const {
    std::vector<html::named_result> named;
    const auto steps = ladder_steps();
    for (std::size_t i = 0; i < all.size(); ++i)
      named.push_back({labels[i], &all[i], nullptr, "", steps});
    if (before) {
      named.front().before = &before->results;
      named.front().before_file = before->file.filename().string();
    }
    return named;
  }
};

int write_html(const report_options& options) {
  labelled_results results(options.files);
  if (results.all.size() == 1) results.look_for_earlier(options.files.front());
  export_files files({options.files.begin(), options.files.end()});
  export_file* const out = files.add("--html", options.html);
  const auto library = html::find_library(charts_folders());
  if (!library) {
    print_to(stderr,
             "note: the page has no charts, only the tables: Vega-Lite is not here; "
             "./zoo setup --charts fetches it\n");
  }
  html::write_page(results.named(), library, options.shown.simulator_times,
                   [&](std::string_view text) { out->append(text); });
  out->finish();
  return kOk;
}

int write_svg(const report_options& options) {
  const labelled_results results(options.files);
  const auto library = html::find_library(charts_folders());
  if (!library) {
    input::refuse("--svg",
                  "Vega-Lite, which draws the charts, is not here; ./zoo setup --charts fetches "
                  "it, and --html FILE writes a page with the tables without it");
  }
  const std::string files = html::write_svg(results.named(), *library, options.svg);
  write_text(stdout, files.empty() ? "there is nothing to draw\n" : files);
  return kOk;
}

}  // namespace

int report(const report_options& options) {
  if (!options.html.empty()) return write_html(options);
  if (!options.svg.empty()) return write_svg(options);
  if (options.files.size() > 1) {
    input::refuse(options.files[1],
                  "one result at a time; --html FILE puts several into a page, and `runner compare "
                  "OLD NEW` says what has changed");
  }
  const results::document d = storage::read(options.files.front());
  if (options.as) {
    render(d, *options.as, options.shown, [](std::string_view text) { write_text(stdout, text); });
  } else {
    write_text(stdout, report::full_report(d, report::view_of(stdout, options.shown)));
  }
  return kOk;
}

}  // namespace kzoo::cli
