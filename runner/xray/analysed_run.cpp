// The run itself, in the process that analyses a cell.
#include "core/operands.hpp"
#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "worker/device_matrix.hpp"
#include "worker/library.hpp"
#include "worker/messages.hpp"
#include "worker/plugin_calls.hpp"
#include "xray/analysis.hpp"
#include "xray/collector.hpp"
#include "xray/source_lines.hpp"

#include <kzoo/xray.h>

#include <boost/dll/shared_library.hpp>

#include <algorithm>
#include <memory>

namespace kzoo::xray {
namespace {

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

verdict verdict_of(const worker::refusal& r) {
  for (const verdict v : kVerdicts)
    if (verdict_name(v) == r.status) return v;
  return verdict::error;
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
    std::vector<launch> found = launches();
    if (found.empty() || found.back().findings.empty()) throw failure(verdict_of(r), r.reason);
    found.back().error = r.reason;
    return found;
  }
}

}  // namespace kzoo::xray
