#include "compile/cache.hpp"

#include "experiment/reader.hpp"
#include "os/posix.hpp"
#include "os/sha256.hpp"
#include "os/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

namespace kzoo::compile {
namespace {

namespace fs = std::filesystem;

constexpr const char* kElsewhere =
    "set XDG_CACHE_HOME to a folder that is yours alone, or mend it with chown and chmod go-w";

constexpr const char* kHash = "sha256";

fs::path cache_home() {
  if (const auto folder = user_folder("XDG_CACHE_HOME", ".cache")) return *folder;
  input::refuse(
      "",
      "compiled plugins are kept in a folder of yours, and neither XDG_CACHE_HOME nor HOME "
      "names one");
}

std::uint64_t most_bytes() {
  constexpr double kUsual = 10, kGigabyte = 1e9;
  const char* given = std::getenv("KZOO_CACHE_GB");
  if (given == nullptr || *given == '\0') return static_cast<std::uint64_t>(kUsual * kGigabyte);
  const auto number = number_from<double>(given);
  if (!number || !(*number >= 0) || *number > 1e9)
    input::refuse("KZOO_CACHE_GB",
                  "expected how many GB compiled plugins may take, such as 10, found {}",
                  input::in_quotes(given));
  return static_cast<std::uint64_t>(*number * kGigabyte);
}

// Whether the entry has the library. Links to it if the same source under another name made the
// entry.
bool provides_library(const fs::path& entry, const std::string& file) {
  std::error_code fault;
  if (fs::is_regular_file(entry / file, fault)) return true;
  const std::vector<fs::path> libraries = paths_in(entry, ".so");
  if (libraries.empty()) return false;
  fs::create_hard_link(libraries.front(), entry / file, fault);
  return fs::is_regular_file(entry / file, fault);
}

descriptor open_folder(const fs::path& folder) {
  return descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// An installed recipe knows folders relative to where it is installed,
// PREFIX/lib/kernel-zoo/recipes.
std::string with_prefix(std::string text, const fs::path& folder) {
  constexpr std::string_view kPrefixMark = "{prefix}";
  const std::string prefix = (folder / "../../..").lexically_normal().string();
  for (auto at = text.find(kPrefixMark); at != std::string::npos; at = text.find(kPrefixMark)) {
    text.replace(at, kPrefixMark.size(),
                 prefix.ends_with('/') ? prefix.substr(0, prefix.size() - 1) : prefix);
  }
  return text;
}

// An installed standalone build (KZOO_STANDALONE) uses the compiler in PATH.
std::string in_path(const std::string& compiler, const fs::path& file) {
  if (compiler.find('/') != std::string::npos) return compiler;
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : parts_of(path == nullptr ? "" : path, ':')) {
    const fs::path program = fs::absolute(fs::path(folder) / compiler);
    std::error_code ignored;
    if (access(program.c_str(), X_OK) == 0 && fs::is_regular_file(program, ignored))
      return program.string();
  }
  input::refuse("",
                "sources are compiled with {0}, 12 or later, and there is no {0} in PATH; on "
                "Debian and Ubuntu: apt install g++ ({1} says how they are compiled)",
                compiler, file.string());
}

void check_present(const recipe& r, const fs::path& file) {
  const auto is_missing = [](const std::string& path) {
    return path.starts_with('/') && !fs::exists(path);
  };
  if (is_missing(r.compiler)) {
    input::refuse(
        "", "the compiler that this runner was built with, {}, is not here (it is named in {})",
        r.compiler, file.string());
  }
  const auto library = std::ranges::find_if(r.libraries, is_missing);
  if (library == r.libraries.end()) return;
  input::refuse("",
                "a plugin for {} is linked with {}, which is not here; build it in the repository "
                "with ./zoo build --all, or install the package that it is from",
                r.device, *library);
}

}  // namespace

cache::cache() try : folder_(cache_home() / "kernel-zoo" / "plugins"), most_(most_bytes()) {
  std::error_code fault;
  fs::create_directories(folder_.parent_path().parent_path(), fault);
  for (const fs::path& each : {folder_.parent_path(), folder_}) mkdir(each.c_str(), 0700);
  if (!fs::is_directory(folder_, fault)) {
    input::refuse("", "{}, where compiled plugins are kept, cannot be made; {}", folder_.string(),
                  kElsewhere);
  }
  if (const auto why = not_private_because(folder_)) {
    input::refuse("", "nothing is run from {}, where compiled plugins are kept, since {}; {}",
                  folder_.string(), *why, kElsewhere);
  }
} catch (const input::invalid& why) {
  throw cannot_compile(why);
}

std::string with_names(std::string text, const places& known) {
  for (const auto& [name, folder] : known) {
    const std::string path = folder.string() + '/';
    const std::size_t first = text.find('/');
    for (auto at = text.find(path); at != text.npos; at = text.find(path, at + 1))
      if (at == first || text[at - 1] == '"') text.replace(at, path.size() - 1, name);
  }
  return text;
}

fs::path cache::entry(const std::string& key, const std::vector<std::string>& includes,
                      const places& known) const {
  std::string all = key;
  for (const std::string& name : includes) {
    std::string file = name;
    for (const place& p : known)
      if (name.starts_with(p.name + '/')) file = p.folder.string() + name.substr(p.name.size());
    all += '\n' + name + ' ' + sha256_of(file);
  }
  return folder_ / sha256(all);
}

std::optional<fs::path> cache::find(const std::string& key, const std::string& file,
                                    const places& known) const {
  const std::vector<std::string> includes = lines_of(content_of(folder_ / (key + ".includes")));
  if (includes.empty()) return std::nullopt;
  const fs::path folder = entry(key, includes, known);
  std::error_code fault;
  if (!keep_in_use(folder) || !provides_library(folder, file)) return std::nullopt;
  if (content_of(folder / kHash) != sha256_of(folder / file) + '\n') {
    fs::remove_all(folder, fault);
    return std::nullopt;
  }
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(folder, now, fault);
  fs::last_write_time(folder_ / (key + ".includes"), now, fault);
  return folder / file;
}

temporary_folder cache::new_folder() const { return temporary_folder(folder_ / "new."); }

fs::path cache::store(const fs::path& begun, const std::string& key, const std::string& file,
                      std::vector<std::string> includes, const places& known) const {
  for (std::string& each : includes) each = with_names(std::move(each), known);
  const fs::path kept = entry(key, includes, known);
  // A clean folder takes the library alone, without anything else that the compilation wrote.
  const temporary_folder clean = new_folder();
  fs::rename(begun / file, clean.path() / file);
  replace_file(clean.path() / kHash, sha256_of(clean.path() / file) + '\n');
  replace_file(folder_ / (key + ".includes"), fmt::format("{}\n", fmt::join(includes, "\n")));
  std::error_code fault;
  fs::rename(clean.path(), kept, fault);  // fails where another runner was faster
  if (!provides_library(kept, file))
    throw std::system_error(fault, fmt::format("{} cannot be written", kept.string()));
  keep_in_use(kept);
  evict();
  return kept / file;
}

std::uint64_t cache::size_of(const fs::path& folder) {
  std::uint64_t bytes = 0;
  for (const fs::path& each : paths_below(folder)) {
    struct stat status {};
    // Bytes on the disk: a file may have holes.
    if (lstat(each.c_str(), &status) == 0) bytes += std::uint64_t(status.st_blocks) * 512;
  }
  return bytes;
}

bool cache::keep_in_use(const fs::path& folder) {
  // The most entries that this process protects, each by an open file. Beyond that, entries are
  // still evicted in the order of their last use.
  constexpr std::size_t kMost = 256;
  static std::mutex mutex;
  static std::map<fs::path, descriptor> used;
  const std::unique_lock locked(mutex);
  descriptor opened = open_folder(folder);
  if (opened.fd() < 0 || flock(opened.fd(), LOCK_SH | LOCK_NB) != 0) return false;
  if (used.size() < kMost || used.contains(folder))
    used.insert_or_assign(folder, std::move(opened));
  return true;
}

void cache::evict() const {
  struct kept_entry {
    fs::path path;
    fs::file_time_type used;
    std::uint64_t bytes;
  };
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::days(30);
  std::vector<kept_entry> all;
  std::uint64_t bytes = 0;
  std::error_code fault;
  for (const auto& each : fs::directory_iterator(folder_, fault)) {
    all.push_back({each.path(), each.last_write_time(fault),
                   each.is_directory(fault) ? size_of(each.path()) : 0});
    bytes += all.back().bytes;
  }
  std::ranges::sort(all, {}, &kept_entry::used);
  for (const kept_entry& each : all) {
    // An entry with a point in its name is being made, or removed.
    const bool is_old = each.used < long_ago;
    const bool is_too_much = bytes > most_ && each.bytes > 0 && !each.path.has_extension();
    if (!is_old && !is_too_much) continue;
    if (each.bytes > 0) {
      const descriptor opened = open_folder(each.path);
      if (opened.fd() < 0 || flock(opened.fd(), LOCK_EX | LOCK_NB) != 0) continue;
      const temporary_folder away(folder_ / "old.");
      // The rename removes the entry atomically for other processes.
      fs::rename(each.path, away.path() / "entry", fault);
      if (!fault) bytes -= each.bytes;
    } else {
      fs::remove_all(each.path, fault);
    }
  }
}

std::optional<fs::path> device_code_folder(const fs::path& library) try {
  std::error_code fault;
  if (!fs::exists("/dev/nvidiactl", fault)) return std::nullopt;
  const fs::path folder = cache().folder() / sha256("device code of " + sha256_of(library));
  mkdir(folder.c_str(), 0700);
  fs::last_write_time(folder, fs::file_time_type::clock::now(), fault);
  if (!cache::keep_in_use(folder)) return std::nullopt;
  return folder;
} catch (const cannot_compile&) {
  return std::nullopt;
}

recipe read_recipe(const fs::path& folder, const std::string& device) try {
  const fs::path file = folder / (device + ".toml");
  if (!fs::exists(file)) {
    input::refuse("", "this runner cannot compile plugins for {}: there is no {}{}", device,
                  file.string(), device == "cuda" ? "; it was built without nvcc" : "");
  }
  const std::string text = with_prefix(input::read_file(file), fs::absolute(folder));
  input::diagnostics report(file.string(), text);
  const experiment::node_table document = experiment::parse_document(text, report);
  report.throw_if_any();
  experiment::table_reader keys(document, "", report);
  recipe r;
  r.device = device;
  const auto read = [&](const char* key, auto& out) { keys.read(key, out, experiment::text); };
  const auto read_items = [&](const char* key, std::vector<std::string>& out) {
    std::string list;
    read(key, list);
    const std::vector<std::string_view> items = parts_of(list, ';');  // as in CMake
    out.assign(items.begin(), items.end());
  };
  read("compiler", r.compiler);
  read("version", r.version);
  read("build_info", r.build_info);
  read_items("architectures", r.architectures);
  read("include", r.include);
  read("simulated_include", r.simulated_include);
  read("package", r.package);
  read_items("options", r.options);
  read_items("definitions", r.definitions);
  read_items("link_options", r.link_options);
  read_items("libraries", r.libraries);
  keys.finish();
  report.throw_if_any();
  r.compiler = in_path(r.compiler, file);
  check_present(r, file);
  return r;
} catch (const input::invalid& why) {
  throw cannot_compile(why);
}

}  // namespace kzoo::compile
