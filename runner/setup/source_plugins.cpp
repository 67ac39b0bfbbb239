#include "setup/source_plugins.hpp"

#include "compile/source_plugin.hpp"
#include "core/kernel_name.hpp"
#include "devices/devices.hpp"
#include "experiment/tuning_space.hpp"
#include "input/diagnostics.hpp"
#include "manifest/pack.hpp"
#include "os/files.hpp"
#include "os/output.hpp"
#include "os/places.hpp"
#include "os/posix.hpp"
#include "os/sha256.hpp"
#include "os/text.hpp"
#include "report/terminal.hpp"
#include "source/description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <future>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <system_error>
#include <utility>

namespace kzoo::setup {
namespace {

namespace fs = std::filesystem;

constexpr std::array kCompiledKernels{".cubin", ".fatbin", ".ptx"};

compile::recipe recipe_for(const std::string& device) {
  compile::recipe how = compile::read_recipe(recipe_folder(), device);
  if (const fs::path launcher = launcher_library(); device == "cuda" && fs::exists(launcher))
    how.launcher = launcher;
  return how;
}

// Results of compile_ahead().
std::map<fs::path, std::future<compile::compiled>>& compiled_ahead() {
  static std::map<fs::path, std::future<compile::compiled>> all;
  return all;
}

compile::compiled compile_for(const std::string& device, const fs::path& source,
                              const compile::build_request& asked, const compile::cache& kept,
                              const results::tuning_point& point = {}) {
  const compile::recipe how = recipe_for(device);
  compile::compiled made = compile::source_plugin(source, how, asked, kept, point);
  print_to(stderr, "{}", made.output);
  if (made.is_new) print_to(stderr, "compiled {} for {}\n", source.string(), device);
  return made;
}

// Removes "." but keeps "..", since the folder before it may be a link.
fs::path absolute_of(const fs::path& path) {
  fs::path whole;
  for (const fs::path& part : fs::absolute(path))
    if (part != ".") whole /= part;
  return whole;
}

// Options for building the plugins of files.
struct build_options {
  const results::experiment& experiment;
  kzoo_device_kind kind;
  // Patterns of the wanted variants of each file; "": all.
  std::map<fs::path, std::vector<std::string>> variants{};

  const std::vector<std::string>& arguments() const { return experiment.overridden.build_args; }
};

// The tuning space of a source, if it has one.
std::optional<results::tuning_space> space_of(const fs::path& source, const build_options& how) {
  const source::description d =
      source::describe(source, source.string(), source::read_source(source, source.string()));
  const auto given = how.experiment.spaces.find(source.stem().string());
  std::optional<results::tuning_space> space = source::tuning_space_in(d);
  if (given != how.experiment.spaces.end()) space = given->second;
  if (space) source::require_used(*space, d, source);
  return space;
}

// Keeps the configurations of wanted variants.
std::vector<results::tuning_point> wanted_points(const results::tuning_space& space,
                                                 const std::vector<std::string>& patterns,
                                                 const selector& s) {
  std::vector<results::tuning_point> points = experiment::points_of(space);
  const std::string example = results::point_name(points.front());
  std::erase_if(points, [&](const results::tuning_point& point) {
    const std::string name = results::point_name(point);
    return std::ranges::none_of(patterns, [&](const std::string& pattern) {
      // With several variants in a source, the name begins with a variant.
      return pattern.empty() || matches("p:" + pattern, "p", name) ||
             results::is_variant_of(pattern, name);
    });
  });
  if (points.empty()) {
    input::refuse(s.where,
                  "{} names no point of the space that the source is tuned over; one of them is {}",
                  input::in_quotes(s.text), example);
  }
  return points;
}

// Shows how many configurations are compiled and the estimated time left: on a terminal in a line
// that is rewritten, else from time to time.
class compile_progress {
 public:
  compile_progress(const fs::path& source, std::size_t points)
      : source_(source.string()), points_(points), line_(stderr) {
    tell(0);
  }
  void tell(std::size_t done) {
    constexpr double kPause = 10;  // between the lines of a log, in seconds
    const double now = steady_seconds(), elapsed = now - start_;
    std::string text = fmt::format("compiled {} of {} points of {}", done, points_, source_);
    if (done > 0) {
      const double left = elapsed / double(done) * double(points_ - done);
      text += fmt::format(", about {} left", report::clock_text(left));
    }
    line_.show(text);
    if (line_.is_live() || now - said_ < kPause || done == points_) return;
    print_to(stderr, "{}\n", text);
    said_ = now;
  }

 private:
  std::string source_;
  std::size_t points_;
  report::status_line line_;
  double start_ = steady_seconds(), said_ = start_;
};

// Notes on stderr that simulated configurations are not ranked; called before anything is compiled.
void tell_that_none_is_ranked(const fs::path& source, const results::tuning_point& point) {
  const std::string name = source.string();
  const source::description d = source::describe(source, name, source::read_source(source, name));
  if (compile::unit_of(d, source, point).settings.native) return;
  print_to(stderr,
           "note: {} runs in the simulator, which says whether its kernels are right and not how "
           "fast they are, so that none is ranked: tune on a GPU (--device cuda)\n",
           name);
}

compile::tuned_plugin made_of_points(const fs::path& source,
                                     const std::vector<results::tuning_point>& points,
                                     const compile::recipe& how, const build_options& options,
                                     const compile::cache& kept) {
  compile_progress progress(source, points.size());
  compile::compile_watch watch{[&](std::size_t done) { progress.tell(done); }};
  // Compiling may take half of the budget, shared by the sources.
  if (const auto budget = options.experiment.timing.budget_seconds)
    watch.deadline = steady_seconds() + *budget / 2 / double(options.variants.size());
  return compile::make_tuned_plugin(source, how, {options.arguments(), {}}, kept, points, watch);
}

run::plugin_file tuned_file(const fs::path& source, const results::tuning_space& space,
                            const selector& s, const build_options& options,
                            const compile::cache& kept) {
  const std::string device = devices::kind_name(options.kind);
  const auto named = wanted_points(space, options.variants.at(fs::canonical(source)), s);
  std::vector<results::tuning_point> wanted;
  const auto sample = options.experiment.overridden.sample.value_or(std::ssize(named));
  std::ranges::sample(named, std::back_inserter(wanted), sample, std::mt19937_64{});
  if (options.kind == KZOO_CPU && options.experiment.overridden.tune)
    tell_that_none_is_ranked(source, wanted.front());
  compile::tuned_plugin made = made_of_points(source, wanted, recipe_for(device), options, kept);
  made.builds.not_drawn = named.size() - wanted.size();
  const auto& points = made.builds.points;
  const auto failed = std::ranges::count_if(
      points, [](const results::built_point& p) { return !p.why_not.empty(); });
  if (made.builds.from_cache < points.size()) {
    std::string more;
    if (made.builds.from_cache > 0)
      more += fmt::format(", {} more were in the cache", made.builds.from_cache);
    if (made.builds.left_out > 0)
      more += fmt::format(", {} left out for lack of time", made.builds.left_out);
    if (failed > 0) more += fmt::format("; {} do not compile", failed);
    print_to(stderr, "{}compiled {} of {} for {} in {:.1f} s{}\n", made.output,
             counted(points.size() - made.builds.from_cache, "point"), source.string(), device,
             made.builds.seconds, more);
  }
  return {source.stem().string(), std::move(made.library), options.kind,
          absolute_of(source),    std::move(made.builds),  made.host_code,
          std::move(made.missing)};
}

// Makes a plugin of the compiled kernels that a manifest names.
fs::path packed(const fs::path& manifest, const compile::cache& kept) try {
  const std::string library = manifest::pack(manifest, launcher_library());
  const std::string file = manifest.stem().string() + ".so", key = sha256(library);
  const compile::places places{{"{source}", manifest.parent_path()}};
  if (const auto known = kept.find(key, file, places)) return *known;
  const temporary_folder begun = kept.new_folder();
  write_file(begun.path() / file, library);
  return kept.store(begun.path(), key, file, {manifest.string()}, places);
} catch (const manifest::no_launcher& why) {
  throw compile::cannot_compile(why);
}

// Rejects a file that cannot become a plugin. `where`: the place that names it.
void check_file(const fs::path& path, const std::string& where) {
  const std::string name = path.stem().string();
  if (!is_identifier(name)) {
    input::refuse(where,
                  "the plugin would be called '{}'; letters, digits, '_', '.' and '-' make a name, "
                  "so rename the file",
                  name);
  }
  if (std::ranges::count(kCompiledKernels, path.extension()) > 0) {
    input::refuse(where,
                  "{} says nothing of how its kernels are launched; name a manifest that does: "
                  "docs/compiled-kernels.md",
                  path.string());
  }
}

// Whether the file is to be compiled.
bool is_source(const fs::path& path) {
  return path.extension() != ".so" && path.extension() != ".toml" && !fs::is_directory(path);
}

// The plugin of a file that is no library.
run::plugin_file plugin_in(const fs::path& path, const compile::build_request& asked,
                           kzoo_device_kind kind, const compile::cache& kept) {
  const std::string name = path.stem().string();
  if (path.extension() == ".toml")
    return {name, packed(fs::canonical(path), kept), KZOO_CUDA, {}, {}, false};
  auto ahead = compiled_ahead().extract(fs::canonical(path));
  compile::compiled made =
      ahead ? ahead.mapped().get() : compile_for(devices::kind_name(kind), path, asked, kept);
  return {name,           std::move(made.library),    kind, absolute_of(path), {},
          made.host_code, std::move(made.cut.missing)};
}

// The plugins that a selector names: one, or a project's.
std::vector<run::plugin_file> plugins_in(const fs::path& path, const selector& s,
                                         const build_options& options) {
  const kzoo_device_kind kind = options.kind;
  const std::string device = devices::kind_name(kind);
  if (path.extension() == ".so") {
    const bool host_code = !manifest::is_packed(path, launcher_library());
    return {{path.stem().string(), absolute_of(path), 0, {}, {}, host_code}};
  }
  const compile::cache kept;
  if (!fs::is_directory(path)) {
    check_file(path, to_string(s.where));
    if (is_source(path))
      if (const auto space = space_of(path, options))
        return {tuned_file(path, *space, s, options, kept)};
    return {plugin_in(path, {options.arguments(), {}}, kind, kept)};
  }
  if (!fs::exists(path / "CMakeLists.txt")) {
    input::refuse(
        s.where,
        "{} has no CMakeLists.txt; name a source in it, or a folder with plugins by --plugin-dir",
        path.string());
  }
  std::vector<run::plugin_file> found;
  const compile::recipe how = recipe_for(device);
  for (const fs::path& library : compile::project_plugins(path, how, kept))
    found.push_back({library.stem().string(), library, kind});
  if (found.empty()) input::refuse(s.where, "{} builds no plugin for {}", path.string(), device);
  return found;
}

// Rejects a plugin with another selector's name. The baseline's pattern must not match a rival.
void check_name(const std::vector<selector>& selectors, const std::optional<selector>& baseline,
                const std::string& name, const fs::path& path) {
  for (const selector& s : selectors) {
    const bool is_baseline = baseline && s.text == baseline->text;
    if (as_file(s.text) ||
        !(s.text.substr(0, s.text.find(':')) == name || (is_baseline && matches(s.text, name, ""))))
      continue;
    input::refuse(
        s.where,
        "two plugins are called {}: this one and {}; give the file another name to compare them",
        name, path.string());
  }
}

fs::path path_of(const selector& s, const file_selector& file, const fs::path& experiment_file) {
  fs::path path = file.path;
  const bool of_experiment = s.where.line > 0;
  if (of_experiment && path.is_relative()) path = experiment_file.parent_path() / path;
  std::error_code fault;
  if (!fs::exists(path, fault)) {
    input::refuse(s.where, fault ? fmt::format("{}: {}", path.string(), fault.message())
                                 : fmt::format("there is no file {}", path.string()));
  }
  return path;
}

// Returns the name as a TOML key.
std::string key_text(const std::string& name) {
  return is_identifier(name) && name.find('.') == std::string::npos ? name : input::in_quotes(name);
}

// Rejects a space for a plugin that is not in `sources`, the plugins named by their sources.
void check_spaces(const results::experiment& e, const std::set<std::string>& sources) {
  for (const auto& [name, space] : e.spaces) {
    if (sources.contains(name)) continue;
    std::vector<std::string> tables;
    for (const std::string& known : sources)
      tables.push_back(fmt::format("[tune.{}]", key_text(known)));
    input::refuse(space.where, "tune.{} is for a plugin that is named by its source, {}",
                  key_text(name),
                  tables.empty()
                      ? fmt::format("such as plugins = [\"./{}.cu\"], and none is",
                                    fs::path(name).stem().string())
                      : fmt::format("and none has this name: write {}", fmt::join(tables, " or ")));
  }
}

// Guesses a project's files by their names.
std::vector<fs::path> files_of_project(const fs::path& folder) {
  constexpr std::array kNames{"CMakeLists.txt", ".h", ".hpp", ".cmake"};
  const auto is_source = [&](const std::string& name) {
    return as_file(name) ||
           std::ranges::any_of(kNames, [&](const char* end) { return name.ends_with(end); });
  };
  std::vector<fs::path> files = paths_below(folder);
  std::erase_if(files, [&](const fs::path& f) { return !is_source(f.filename().string()); });
  return files;
}

std::vector<fs::path> files_of_plugin(const fs::path& path) {
  if (fs::is_directory(path)) return files_of_project(path);
  std::vector<fs::path> files{path};
  if (path.extension() == ".so") return files;
  if (path.extension() == ".toml") {
    const fs::path manifest = fs::canonical(path);
    files.push_back(manifest.parent_path() /
                    manifest::read(manifest, input::read_file(manifest)).kernel);
    return files;
  }
  std::ranges::copy(source::source_and_headers(path), std::back_inserter(files));
  const fs::path manifest = fs::path(path).replace_extension(".toml");
  if (fs::exists(manifest)) files.push_back(manifest);
  return files;
}

}  // namespace

std::vector<fs::path> files_of(const results::experiment& e,
                               const std::vector<run::loaded_plugin>& loaded) {
  std::vector<fs::path> files{e.file};
  const auto add = [&](const selector& s) {
    if (const auto file = as_file(s.text))
      std::ranges::copy(files_of_plugin(path_of(s, *file, e.file)), std::back_inserter(files));
  };
  std::ranges::for_each(e.plugins, add);
  if (e.baseline) add(*e.baseline);
  for (const run::loaded_plugin& p : loaded) files.push_back(p.record.file);
  return files;
}

void add_files(std::vector<selector>& selectors, const results::experiment& e,
               kzoo_device_kind kind, run::plugin_discovery& plugins) {
  build_options options{e, kind};
  std::set<std::string> sources;
  const auto want = [&](const selector& s) {
    const auto file = as_file(s.text);
    if (!file) return;
    const fs::path path = path_of(s, *file, e.file);
    options.variants[fs::canonical(path)].push_back(file->variant);
    if (is_source(path)) sources.insert(path.stem().string());
  };
  std::ranges::for_each(e.plugins, want);
  if (e.baseline) want(*e.baseline);
  check_spaces(e, sources);
  std::map<fs::path, std::vector<run::plugin_file>> made;
  std::map<std::string, fs::path> paths;  // by the plugin's name
  std::vector<selector> named;
  for (const selector& s : selectors) {
    const auto file = as_file(s.text);
    if (!file) {
      named.push_back(s);
      continue;
    }
    const fs::path path = path_of(s, *file, e.file);
    const auto [known, is_new] = made.try_emplace(fs::canonical(path));
    if (is_new) known->second = plugins_in(path, s, options);
    if (e.verify.device_code_only && !(e.baseline && s.text == e.baseline->text))
      std::ranges::for_each(known->second, require_device_code);
    for (const run::plugin_file& p : known->second) {
      named.push_back({file->variant.empty() ? p.name : p.name + ':' + file->variant, s.where});
      if (!is_new) continue;
      if (const auto [first, added] = paths.try_emplace(p.name, path); !added) {
        input::refuse(s.where,
                      "two plugins are called {}: those of {} and {}; give one file another name",
                      p.name, first->second.string(), path.string());
      }
      check_name(selectors, e.baseline, p.name, path);
      plugins.add_file(p);
    }
  }
  selectors = std::move(named);
}

std::vector<tuned_source> take_tuned_sources(results::experiment& e) {
  const build_options options{e, KZOO_CPU};
  std::set<std::string> sources;
  std::map<fs::path, std::vector<std::string>> patterns;  // of variants
  std::vector<tuned_source> tuned;
  const auto is_tuned = [&](const selector& s) {
    const auto file = as_file(s.text);
    if (!file) return false;
    const fs::path path = path_of(s, *file, e.file);
    if (!is_source(path)) return false;
    check_file(path, to_string(s.where));
    sources.insert(path.stem().string());
    const auto space = space_of(path, options);
    if (!space) return false;
    std::vector<std::string>& wanted = patterns[fs::canonical(path)];
    wanted.push_back(file->variant);
    const tuned_source found{path, wanted_points(*space, wanted, s).size()};
    const auto known = std::ranges::find_if(
        tuned, [&](const tuned_source& t) { return fs::equivalent(t.path, path); });
    if (known == tuned.end())
      tuned.push_back(found);
    else
      known->points = found.points;
    return true;
  };
  std::erase_if(e.plugins, is_tuned);
  if (e.baseline && is_tuned(*e.baseline)) e.baseline.reset();
  check_spaces(e, sources);
  for (const tuned_source& of : tuned) e.spaces.erase(of.path.stem().string());
  return tuned;
}

void require_device_code(const run::plugin_file& p) {
  if (!p.host_code) return;
  const bool is_source = !p.source.empty() && !fs::is_directory(p.source);
  throw has_host_code(fmt::format(
      "{} {}, which would run in the process that times it, and kernels are asked for of which only "
      "device code is the author's: a source of __global__ functions that says in `// kzoo: "
      "entry=…` lines how they are launched, or a manifest of a cubin, a fatbin or PTX",
      p.name,
      !is_source           ? "is a library with host code of its own"
      : p.kind == KZOO_CPU ? "is host code on the cpu device"
      : fs::exists(launcher_library())
          ? "is a plugin, with host code of its own"
          : "is launched by host code, since this runner was built with an nvcc before 12.8"));
}

void compile_ahead(const std::vector<fs::path>& sources, kzoo_device_kind kind,
                   const std::vector<std::string>& build_args) {
  if (sources.size() < 2) return;
  auto& ahead = compiled_ahead();
  for (const fs::path& path : sources) {
    if (!is_source(path) || ahead.contains(fs::canonical(path))) continue;
    ahead[fs::canonical(path)] = std::async(std::launch::async, [=] {
      const std::string name = path.string(), text = source::read_source(path, name);
      if (source::tuning_space_in(source::describe(path, name, text))) throw compile::not_begun();
      return compile_for(devices::kind_name(kind), path, {build_args, {}}, compile::cache());
    });
  }
  for (const auto& [path, made] : ahead) made.wait();
}

run::plugin_file compiled_library(const fs::path& file, kzoo_device_kind kind,
                                  const compile::build_request& asked) {
  const std::string name = file.string();
  std::error_code fault;
  if (!fs::exists(file, fault)) input::refuse("", "there is no file {}", name);
  if (fs::is_directory(file)) {
    input::refuse(name,
                  "is a folder; name a source in it, or build its project with CMake "
                  "(docs/plugins.md#outside-this-tree)");
  }
  if (file.extension() == ".so") input::refuse(name, "is compiled already");
  if (file.extension() == ".toml" && kind != KZOO_CUDA)
    input::refuse(name, "compiled kernels run on a GPU alone: leave --device out");
  check_file(file, name);
  return plugin_in(file, asked, kind, compile::cache());
}

analysed_variant analysed_source(const results::plugin_record& plugin, std::uint32_t variant,
                                 const std::vector<std::string>& build_args) {
  results::tuning_point values;
  // A build of this configuration alone lacks the variants before it.
  std::uint32_t before = 0;
  const auto& variants = plugin.description->variants;
  const results::built_point* const point = plugin.tuned.point_of(variants.at(variant).id);
  if (point != nullptr) {
    values = point->values;
    while (plugin.tuned.point_of(variants.at(before).id) != point) ++before;
  }
  const compile::compiled made =
      compile_for("cpu-xray", plugin.source, {build_args, {}}, compile::cache(), values);
  return {made.library, variant - before};
}

}  // namespace kzoo::setup
