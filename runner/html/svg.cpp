#include "html/svg.hpp"

#include "html/assets.hpp"
#include "html/charts.hpp"
#include "html/space.hpp"
#include "os/files.hpp"
#include "os/folders.hpp"
#include "os/printable.hpp"
#include "os/text.hpp"
#include "process/command.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <system_error>

namespace kzoo::html {

namespace fs = std::filesystem;

void write_chart_data(std::span<const named_result> all, const fs::path& folder) {
  write_file(folder / "svg.py", assets::kSvgProgram);
  write_file(folder / "charts.json", assets::kCharts);
  write_file(folder / "page.css", assets::kStyle);
  const auto write_table = [&](const char* name, std::string_view table) {
    std::string text;
    for (const std::string& line : lines_of(table)) text += printable(line) + '\n';
    write_file(folder / name, text);
  };
  write_table("charts.csv", charts_table(all));
  write_table("cells.csv", cells_table(all));
  write_table("agreement.csv", agreement_table(all));
  write_table("roofs.csv", roofs_table(all));
  write_table("errors.csv", errors_table(all));
  write_table("space.csv", space_table(all));
}

std::string write_svg(std::span<const named_result> all, const charting_library& library,
                      const fs::path& folder) {
  constexpr double kTimeoutSeconds = 300;
  const temporary_folder data;
  write_chart_data(all, data.path());
  fs::create_directories(folder);
  process::command_result ran;
  try {
    ran = process::run_command({"python3", (data.path() / "svg.py").string(), data.path().string(),
                                library.folder.string(), folder.string()},
                               {}, kTimeoutSeconds);
  } catch (const std::system_error& e) {
    throw std::runtime_error(
        fmt::format("--svg needs python3, which draws the charts: {}", e.what()));
  }
  if (ran.code != 0 || ran.hung) {
    throw std::runtime_error(fmt::format("--svg: the charts cannot be drawn: python3 {}: {}",
                                         process::how_it_failed(ran, kTimeoutSeconds),
                                         printable(ran.output, kLongestText)));
  }
  return ran.output;
}

}  // namespace kzoo::html
