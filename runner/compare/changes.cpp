#include "compare/changes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kzoo::compare {
namespace {

using results::document;
using results::plugin_record;

const plugin_record* find(const document& d, const std::string& plugin) {
  const auto found = std::ranges::find(d.plugins, plugin, &plugin_record::name);
  return found == d.plugins.end() ? nullptr : &*found;
}

void compare_plugins(const document& then, const document& now, std::vector<std::string>& changes) {
  for (const plugin_record& p : then.plugins) {
    const plugin_record* same = find(now, p.name);
    if (same == nullptr) {
      changes.push_back(fmt::format("the plugin {} is no longer in the run", p.name));
    } else if (same->sha256 != p.sha256) {
      changes.push_back(fmt::format("the file of the plugin {} changed: {}", p.name,
                                    (same->file.empty() ? p.file : same->file).string()));
    }
  }
  for (const plugin_record& p : now.plugins) {
    if (find(then, p.name) == nullptr) {
      changes.push_back(fmt::format("the plugin {} was not in the run before", p.name));
    }
  }
}

}  // namespace

std::vector<std::string> changes_between(const document& then, const document& now) {
  std::vector<std::string> changes;
  const auto compare = [&](const std::string& what, const std::string& was, const std::string& is) {
    if (was == is) return;
    const auto shown = [](const std::string& text) { return text.empty() ? "none" : text; };
    changes.push_back(fmt::format("{}: {} then, {} now", what, shown(was), shown(is)));
  };
  const auto joined = [](const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, ","));
  };
  if (then.experiment.text != now.experiment.text) {
    changes.push_back(fmt::format("the text of {} changed", now.experiment.file.string()));
  }
  const auto &was = then.experiment.overridden, &is = now.experiment.overridden;
  compare("--device", was.device.value_or(""), is.device.value_or(""));
  compare("--plugins", joined(was.plugins), joined(is.plugins));
  compare("--sizes", joined(was.sizes), joined(is.sizes));
  compare("--layouts", joined(was.layouts), joined(is.layouts));
  compare("--batches", joined(was.batches), joined(is.batches));
  compare("--build-args", joined(was.build_args), joined(is.build_args));
  compare("--verify", was.tier.value_or(""), is.tier.value_or(""));
  compare("the device", fmt::format("{} ({})", joined(then.devices), then.device.name),
          fmt::format("{} ({})", joined(now.devices), now.device.name));
  compare("the CUDA runtime", then.device.fact("runtime"), now.device.fact("runtime"));
  compare("the NVIDIA driver", then.device.fact("driver"), now.device.fact("driver"));
  compare("kernel-zoo", then.version, now.version);
  compare_plugins(then, now, changes);
  return changes;
}

}  // namespace kzoo::compare
