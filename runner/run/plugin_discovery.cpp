#include "run/plugin_discovery.hpp"

#include "devices/devices.hpp"
#include "input/diagnostics.hpp"
#include "os/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

namespace kzoo::run {

namespace fs = std::filesystem;

void plugin_discovery::add_folder(const fs::path& folder, bool required) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    if (!required) return;
    input::refuse("", "there is no plugin folder {}", folder.string());
  }
  folders_.push_back(folder);
  check_permissions(folder);
  for (const kzoo_device_kind kind : {KZOO_CUDA, KZOO_CPU}) {
    check_permissions(folder / devices::kind_name(kind));
    add_files(folder / devices::kind_name(kind), kind);
  }
  add_files(folder, 0);
  std::ifstream known(folder / "names.txt");
  for (std::string line; std::getline(known, line);) {
    const auto end = std::min(line.find(' '), line.size());
    if (end > 0) known_.push_back({line.substr(0, end), line.substr(end)});
  }
}

void plugin_discovery::add_file(plugin_file file) {
  files_.insert(files_.begin(), std::move(file));
}

void plugin_discovery::check_permissions(const fs::path& folder) {
  const auto others = others_who_can_write(folder);
  if (!others) return;
  warnings_.push_back(fmt::format(
      "{} can write to the plugin folder {}, and so run code as you; chmod go-w prevents that",
      *others, folder.string()));
}

void plugin_discovery::add_files(const fs::path& folder, kzoo_device_kind kind) {
  std::vector<plugin_file> found;
  for (const fs::path& file : paths_in(folder, ".so"))
    found.push_back({file.stem().string(), file, kind});
  std::ranges::sort(found, {}, &plugin_file::name);
  files_.insert(files_.end(), found.begin(), found.end());
}

std::vector<std::string> plugin_discovery::names() const {
  std::vector<std::string> all;
  std::set<std::string> others;
  for (const known_plugin& p : known_)
    if (std::ranges::find(all, p.name) == all.end()) all.push_back(p.name);
  for (const plugin_file& f : files_)
    if (std::ranges::find(all, f.name) == all.end()) others.insert(f.name);
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::vector<plugin_discovery::missing_build> plugin_discovery::not_built() const {
  std::vector<missing_build> missing;
  for (const known_plugin& p : known_) {
    for (const kzoo_device_kind kind : {KZOO_CUDA, KZOO_CPU}) {
      if ((p.devices + ' ').find(fmt::format(" {} ", devices::kind_name(kind))) !=
              std::string::npos &&
          find(p.name, kind).empty()) {
        missing.push_back({p.name, kind});
      }
    }
    if (p.devices.empty() && std::ranges::count(files_, p.name, &plugin_file::name) == 0)
      missing.push_back({p.name, 0});
  }
  return missing;
}

std::vector<plugin_file> plugin_discovery::find(const std::string& name,
                                                kzoo_device_kind kind) const {
  std::vector<plugin_file> found;
  std::ranges::copy_if(files_, std::back_inserter(found), [&](const plugin_file& f) {
    return f.name == name && (f.kind == kind || f.kind == 0);
  });
  return found;
}

}  // namespace kzoo::run
