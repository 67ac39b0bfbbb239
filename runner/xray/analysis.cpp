#include "xray/analysis.hpp"

#include "compile/run_compiler.hpp"
#include "core/operands.hpp"
#include "core/verdict.hpp"
#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "os/assets.hpp"
#include "os/text.hpp"
#include "process/command.hpp"
#include "process/messages.hpp"
#include "process/source_frames.hpp"
#include "storage/describe.hpp"
#include "storage/parts_json.hpp"
#include "storage/results_json.hpp"
#include "worker/messages.hpp"
#include "worker/messages_json.hpp"
#include "worker/plugin.hpp"
#include "worker/prepared_kernel.hpp"
#include "worker/worker.hpp"
#include "xray/collector.hpp"

#include <fmt/format.h>
#include <kzoo/xray.h>
#include <boost/dll/shared_library.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

namespace kzoo::storage {

void describe(auto& fields, maybe_const<xray::source_frame> auto& f) {
  fields(KZOO_MEMBERS(f, file, line, function));
}

void describe_counts(auto& fields, xray::access a, maybe_const<xray::request_counts> auto& c) {
  fields(KZOO_MEMBERS(c, requests, lanes, bytes));
  fields.either(
      "wavefronts", is_shared(a), [&] { fields("wavefronts", c.passes); },
      [&] { fields("sectors", c.passes); });
  fields(KZOO_MEMBERS(c, ideal));
}

void describe(auto& fields, maybe_const<xray::access_pattern> auto& p) {
  fields(KZOO_MEMBERS(p, mask, bytes, passes, offsets));
}

void describe(auto& fields, maybe_const<xray::line_counts> auto& l) {
  describe(fields, l.where);
  fields("called_from", l.called, "access", l.kind, "bytes_per_lane", l.width);
  fields.object("counts", [&](auto& counts) { describe_counts(counts, l.kind, l.counts); });
  fields.derived("advice", xray::advice_on(l).value_or(""));
  fields(KZOO_MEMBERS(l, worst));
}

void describe(auto& fields, maybe_const<xray::finding> auto& f) {
  fields(KZOO_MEMBERS(f, what, where, earlier), "first", f.detail, KZOO_MEMBERS(f, count, advice));
}

struct totals {
  const xray::launch& of;
};
void describe(auto& fields, const totals& t) {
  for (const xray::access a : kAllOf<xray::access>) {
    const xray::request_counts sum = t.of.total(a);
    const auto add = [&] {
      fields.object(name_of(a), [&](auto& counts) { describe_counts(counts, a, sum); });
    };
    fields.when(name_of(a), sum.requests != 0, add);
  }
}

void describe(auto& fields, maybe_const<xray::launch> auto& l) {
  fields(KZOO_MEMBERS(l, kernel, grid, block, blocks, blocks_run, barriers, uncounted));
  fields.derived("totals", totals{l});
  fields(KZOO_MEMBERS(l, lines, findings, error));
}

void describe(auto& fields, const xray::analysed& c) {
  fields(KZOO_MEMBERS(c.kernel, plugin, variant), "problem", problem_name(c.problem), "verdict",
         c.found ? "analysed" : name_of(c.verdict), KZOO_MEMBERS(c, reason), "launches",
         c.found.value_or(std::vector<xray::launch>()));
}

void describe(auto& fields, const xray::document& d) {
  fields.schema("kzoo.xray/1");
  fields("runner", this_runner());
  fields.object("experiment", [&](auto& experiment) { experiment("file", d.experiment); });
  fields(KZOO_MEMBERS(d, cells));
}

}  // namespace kzoo::storage

namespace kzoo::xray {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(analysed_cell, library, variant, problem, most_blocks)

int analysed_main(std::string_view cell) {
  return process::answer_once(cell, [](const nlohmann::json& request) {
    return storage::to_value(analyse_here(request.get<analysed_cell>()));
  });
}

namespace {

// The kernel runs in the process that reports this, and could report anything.
class cleaner {
 public:
  static void clean(std::vector<launch>& launches) {
    for (launch& l : launches) {
      clean(l.kernel);
      clean(l.error);
      for (line_counts& line : l.lines) {
        clean(line.where);
        for (source_frame& f : line.called) clean(f);
      }
      for (finding& f : l.findings) {
        for (std::string* text : {&f.what, &f.advice, &f.detail}) clean(*text);
        for (source_frame* frame : {&f.where, &f.earlier}) clean(*frame);
      }
    }
  }

 private:
  static void clean(std::string& text) { text = printable(text, kLongestText); }
  // Reports show the source file's lines; a device, for example, would have no end.
  static void clean(source_frame& f) {
    constexpr std::uintmax_t kLongestSource = 16 << 20;
    clean(f.function);
    std::error_code fault;
    const auto status = std::filesystem::status(f.file, fault);
    const bool is_source = std::filesystem::is_regular_file(status) &&
                           std::filesystem::file_size(f.file, fault) <= kLongestSource;
    if (std::filesystem::exists(status) && !is_source) f.file.clear();
    clean(f.file);
  }
};

}  // namespace

std::vector<launch> analyse(const analysed_cell& cell, double timeout_seconds) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  process::confinement confined = worker::of_plugins();
  confined.held_bytes = confined.data_bytes;
  confined.most_processes = process::enough_processes();  // it asks addr2line for lines
  const process::command_result ran = process::run_confined(
      process::one_shot_command(self, kAnalysedCommand, cell), {}, confined, timeout_seconds);
  if (ran.hung) {
    throw failure(verdict::hung,
                  fmt::format("the analysis did not end within {:g} s, killed; choose a smaller "
                              "problem with --sizes",
                              timeout_seconds));
  }
  if (!ran.exceeded.empty()) throw failure(verdict::error, "the analysis " + ran.exceeded);
  std::vector<launch> launches;
  const std::string printed = process::with_line(process::last_line_of(ran.output), cell.library);
  process::read_reply(
      ran.output, "it " + process::how_it_failed(ran, timeout_seconds) + printed,
      [&](const auto& reply) { from_value(storage::field(reply, "the reply"), launches); });
  cleaner::clean(launches);
  return launches;
}

std::string schema() { return storage::record_schema(document()).dump(); }

std::string to_text(const document& d) { return storage::dumped(storage::to_value(d), 2) + '\n'; }

namespace {

namespace fs = std::filesystem;

// Written by kzoo_add_plugin: CMake, its build folder, and the target.
struct build_recipe {
  std::string cmake;
  fs::path folder;
  std::string target;
};

build_recipe read_build_recipe(const fs::path& file, const std::string& plugin) {
  build_recipe r;
  std::ifstream in(file);
  std::string folder;
  if (!std::getline(in, r.cmake) || !std::getline(in, folder) || !std::getline(in, r.target)) {
    throw failure(verdict::unavailable,
                  fmt::format("there is no {}, which says how {} is built for xray: that needs a "
                              "plugin built by kzoo_add_plugin with g++",
                              file.string(), plugin));
  }
  r.folder = folder;
  if (!fs::exists(r.folder)) {
    throw failure(
        verdict::unavailable,
        fmt::format("xray builds {} anew, and its build folder {} is not here", plugin, folder));
  }
  // The build writes into the folder, and the file could name any folder.
  std::error_code fault;
  const fs::path below = fs::canonical(file, fault).lexically_relative(fs::canonical(r.folder));
  if (below.empty() || *below.begin() == ".." || !fs::exists(r.folder / "CMakeCache.txt", fault)) {
    throw failure(verdict::unavailable,
                  fmt::format("xray builds {} anew, and {} names {}, which is not the build folder "
                              "that the plugin is in",
                              plugin, file.string(), r.folder.string()));
  }
  return r;
}

fs::path folder_of_builds(const fs::path& file) {
  return fs::absolute(file).parent_path().parent_path() / "cpu-xray";
}

}  // namespace

fs::path existing_build(const fs::path& file) {
  const fs::path library = folder_of_builds(file) / file.filename();
  std::error_code ignored;
  const bool is_current = fs::exists(library, ignored) && fs::last_write_time(library, ignored) >=
                                                              fs::last_write_time(file, ignored);
  return is_current ? library : fs::path();
}

fs::path analysed_build(const fs::path& file) {
  constexpr double kTimeoutSeconds = 600;
  const std::string name = file.stem().string();
  const fs::path folder = folder_of_builds(file);
  const build_recipe r = read_build_recipe(folder / (name + ".build"), name);
  const process::build_lock lock(r.folder);
  const process::command_result built = compile::run_compiler(
      {r.cmake, "--build", r.folder.string(), "--target", r.target}, r.folder, kTimeoutSeconds);
  const fs::path library = folder / (name + ".so");
  if (built.code != 0 || !fs::exists(library)) {
    throw failure(verdict::error,
                  fmt::format("{} cannot be built for xray: cmake {}: {}", name,
                              process::how_it_failed(built, kTimeoutSeconds),
                              printable(process::first_error_in(built.output), 500)));
  }
  return library;
}

// The run itself, in the process that analyses a cell, and its counts by source line.

namespace {

using process::frames;
using process::own_frame;
using frame_table = std::map<std::uint32_t, frames>;

frame_table look_up(const std::filesystem::path& library, const std::set<std::uint32_t>& places) {
  // A return address may belong to the next line, so this looks up the instruction before it.
  std::vector<std::uint64_t> addresses;
  for (const std::uint32_t place : places) addresses.push_back(place - 1);
  const std::vector<frames> of_addresses = process::frames_at(library, addresses);
  frame_table table;
  std::size_t i = 0;
  for (const std::uint32_t place : places) table[place] = of_addresses[i++];
  return table;
}

// All frames of an access: inlined frames at its own place, then its callers'.
frames chain_of(const code_place& place, const frame_table& table) {
  frames all = table.at(place.pc);
  for (const std::uint32_t caller : place.callers) {
    const frames& more = table.at(caller);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

line_counts line_of(const site_key& key, const frame_table& table) {
  line_counts line;
  const frames chain = chain_of(key.place, table);
  line.where = own_frame(chain);
  const auto own = std::ranges::find_if_not(chain, process::is_sdk);
  if (own != chain.end()) {
    for (auto f = own + 1; f != chain.end(); ++f)
      if (!process::is_sdk(*f)) line.called.push_back(*f);
  }
  line.kind = key.kind;
  line.width = key.width;
  return line;
}

void add(line_counts& line, const site_counts& s) {
  const bool merged = s.mergeable && s.merged.requests != 0;
  line.counts += merged ? s.merged : s.single;
  if (merged) line.width = std::max(line.width, s.merged_width);
  if (s.worst.passes > line.worst.passes) line.worst = s.worst;
}

finding finding_of(const hazard_record& h, const frame_table& table) {
  static const text_table kWords = asset_table("xray/hazards");
  const auto& [what, advice] = kWords.at(static_cast<std::size_t>(h.what));
  finding f{what, advice, h.detail, own_frame(chain_of(h.first, table)), {}, h.count};
  const bool race = h.what == hazard::shared_race || h.what == hazard::global_race;
  if (race) f.earlier = own_frame(chain_of(h.second, table));
  return f;
}

// Merges findings at the same lines from different callers.
void add(std::vector<finding>& all, const finding& f) {
  const auto place_of = [](const finding& x) {
    return std::tie(x.what, x.where.file, x.where.line, x.earlier.file, x.earlier.line);
  };
  const auto known = std::ranges::find(all, place_of(f), place_of);
  if (known != all.end())
    known->count += f.count;
  else
    all.push_back(f);
}

auto same_line(const line_counts& l) {
  std::vector<std::pair<std::string, unsigned>> called;
  for (const source_frame& f : l.called) called.emplace_back(f.file, f.line);
  return std::tuple(l.where.file, l.where.line, std::move(called), l.kind, l.width);
}

// The compiler's thread-local flags of initialised variables, as offsets from the library's first
// thread-local variable. By binutils' readelf.
std::vector<kzoo_xray_range> thread_local_guards(const std::filesystem::path& library) {
  std::vector<kzoo_xray_range> ranges;
  const std::string symbols = process::output_of_binutils({"readelf", "-sW", library.string()});
  for (const std::string& line : lines_of(symbols)) {
    std::istringstream words(line);
    std::string number, size, type, bind, visibility, section, name;
    std::uint64_t at = 0;
    words >> number >> std::hex >> at >> size >> type >> bind >> visibility >> section >> name;
    if (words && type == "TLS" && name.starts_with("_ZGV"))
      ranges.push_back({at, at + std::stoull(size, nullptr, 0)});
  }
  return ranges;
}

// The launches with their lines. Merges accesses of a kind at one line that are called from the
// same lines. Throws failure if addr2line cannot be run.
std::vector<launch> with_lines(std::vector<collected_launch> collected,
                               const std::filesystem::path& library) {
  std::set<std::uint32_t> places;
  const auto add_place = [&](const code_place& place) {
    places.insert(place.pc);
    places.insert(place.callers.begin(), place.callers.end());
  };
  for (const collected_launch& l : collected) {
    for (const auto& [key, counts] : l.sites) add_place(key.place);
    for (const hazard_record& h : l.hazards) {
      add_place(h.first);
      add_place(h.second);
    }
  }
  const frame_table table = places.empty() ? frame_table{} : look_up(library, places);
  std::vector<launch> launches;
  for (collected_launch& from : collected) {
    std::map<decltype(same_line(line_counts{})), line_counts> lines;
    for (const auto& [key, counts] : from.sites) {
      line_counts line = line_of(key, table);
      const auto [at, is_new] = lines.try_emplace(same_line(line), line);
      add(at->second, counts);
    }
    for (auto& [key, line] : lines) from.about.lines.push_back(std::move(line));
    for (const hazard_record& h : from.hazards) add(from.about.findings, finding_of(h, table));
    launches.push_back(std::move(from.about));
  }
  return launches;
}

#define KZOO_XRAY_TEXT(symbol) #symbol
#define KZOO_XRAY_NAME(symbol) KZOO_XRAY_TEXT(symbol)

// Records the library's launches from now on.
void attach(const std::string& file, const kzoo_xray_sink& sink) {
  const boost::dll::shared_library library(file, boost::dll::load_mode::rtld_now);
  constexpr const char* kSymbol = KZOO_XRAY_NAME(KZOO_XRAY_SYMBOL);
  if (!library.has(kSymbol)) throw failure(verdict::error, file + " is no analysed build");
  library.get<const kzoo_xray>(kSymbol).attach(&sink);
}

#undef KZOO_XRAY_NAME
#undef KZOO_XRAY_TEXT

// The SM count of an H100 and an H200: counts must not depend on this machine's threads.
results::device simulated_gpu() {
  constexpr std::uint32_t kSms = 132;
  results::device d = devices::find("cpu");
  d.abi.threads = kSms;
  return d;
}

// Recording takes some 20 ns per thread's access. An untiled kernel has two for each FMA.
sampling sampling_of(const analysed_cell& cell) {
  if (cell.most_blocks != 0) return {.most = cell.most_blocks};
  constexpr double kMostAccesses = 3e8;
  const problem& p = cell.problem;
  const double accesses = 2 * double(p.m) * double(p.n) * double(p.k);
  return {.share = std::min(1.0, kMostAccesses / accesses)};
}

// An instance and its matrices. The result is not judged, so redzones and signs are unmarked.
class analysed_instance {
 public:
  // `sampled`: skipped blocks do not write what other blocks may read.
  analysed_instance(const kzoo_variant& variant, const problem& p, bool sampled, collector& to)
      : variant_(variant), device_(simulated_gpu()), backend_(devices::open_cpu()) {
    const kzoo_problem abi = to_abi(p);
    worker::ask_support(variant, abi, device_.abi);
    for (const auto& [name, stored] : inputs_of(p))
      inputs_.push_back(
          add(stored,
              {.name = name.data(), .filled = true, .input = true, .row_bytes = row_bytes(stored)},
              to));
    const data::matrix c = operands_of(p).c;
    c_ = add(c, {.name = "C", .filled = sampled || p.beta != 0, .row_bytes = row_bytes(c)}, to);
    const std::uint64_t bytes = variant.workspace_bytes(&variant, &abi, &device_.abi);
    if (bytes != 0)
      workspace_ =
          add(worker::workspace_spec(bytes), {.name = "the workspace", .filled = sampled}, to);
    instance_ = worker::create_instance(variant, abi, device_.abi);
  }
  ~analysed_instance() { variant_.destroy(&variant_, instance_); }
  analysed_instance(const analysed_instance&) = delete;
  analysed_instance& operator=(const analysed_instance&) = delete;

  void run() {
    worker::run_instance(variant_, instance_, worker::arguments_of(inputs_, c_, workspace_));
  }

 private:
  static std::uint64_t row_bytes(const data::matrix& x) {
    return std::uint64_t(x.ld) * type_size(x.type);
  }
  // Returns the address of element (0, 0).
  void* add(const data::matrix& x, global_buffer buffer, collector& to) {
    const auto& m =
        matrices_.emplace_back(std::make_unique<worker::device_matrix>(*backend_, x, buffer.name));
    buffer.outer_begin = reinterpret_cast<std::uintptr_t>(m->words());
    buffer.outer_end = buffer.outer_begin + m->bytes();
    buffer.begin = buffer.outer_begin + m->offset_of_first();
    buffer.end = buffer.outer_end - m->offset_of_first();
    buffer.element_bytes = static_cast<unsigned>(type_size(x.type));
    buffer.spec = x;
    to.add_global(buffer);
    return m->first();
  }

  const kzoo_variant& variant_;
  results::device device_;
  std::unique_ptr<devices::backend> backend_;
  std::vector<std::unique_ptr<worker::device_matrix>> matrices_;
  std::vector<const void*> inputs_;
  void *c_ = nullptr, *workspace_ = nullptr;
  void* instance_ = nullptr;
};

// A reason of the simulator, with the line of the "(code 0x1a2b)" that it may name.
std::string with_line(const std::string& reason, const fs::path& library) {
  static const std::regex kCode("\\(code 0x([0-9a-f]{1,8})\\)");
  std::smatch code;
  if (!std::regex_search(reason, code, kCode)) return reason;
  const auto pc = static_cast<std::uint32_t>(std::stoul(code[1], nullptr, 16));
  const source_frame line = own_frame(look_up(library, {pc}).at(pc));
  return code.prefix().str() + "(" + place_text(line) + ")" + code.suffix().str();
}

}  // namespace

std::vector<launch> analyse_here(const analysed_cell& cell) {
  collector collected;
  const auto launches = [&] { return with_lines(collected.take(), cell.library); };
  try {
    const worker::library library(cell.library);
    collected.ignore(thread_local_guards(cell.library));
    attach(cell.library, collected.sink());
    const sampling sampled = sampling_of(cell);
    collected.sample(sampled);
    analysed_instance instance(library.variant(cell.variant), cell.problem,
                               sampled.share < 1 || cell.most_blocks != 0, collected);
    instance.run();
    return launches();
  } catch (const worker::refusal& r) {
    // Earlier findings may explain the failed launch, so both are reported.
    std::vector<launch> recorded = launches();
    const std::string reason = with_line(r.reason, cell.library);
    if (recorded.empty() || recorded.back().findings.empty())
      throw failure(from_name<verdict>(r.status).value_or(verdict::error), reason);
    recorded.back().error = reason;
    return recorded;
  }
}

}  // namespace kzoo::xray
