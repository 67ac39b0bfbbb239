#include "html/charts.hpp"
#include "os/assets.hpp"
#include "os/files.hpp"
#include "os/printable.hpp"
#include "process/command.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <system_error>

namespace kzoo::html {

namespace fs = std::filesystem;

std::string write_svg(std::span<const named_result> all, const charting_library& library,
                      const fs::path& folder) {
  constexpr double kTimeoutSeconds = 300;
  const temporary_folder data;
  write_file(data.path() / "svg.py", asset("svg.py"));
  write_file(data.path() / "page.css", asset("page.css"));
  write_file(data.path() / "charts.json", chart_specifications(all));
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
