#include "context.hpp"

#include "tuned.hpp"

#include <kzoo/caller.hpp>
#include <kzoo/error.hpp>

#include <functional>
#include <new>

using namespace kzoo::library;

namespace {

constexpr std::size_t kProblems = 256;

std::unique_ptr<device> open(kzoo_device_kind kind) {
  if (kind == KZOO_CPU) return open_cpu();
  if (kind == KZOO_CUDA || kind == 0) return open_cuda();
  throw kzoo::error(KZOO_INVALID_ARGUMENT, "options.device is neither KZOO_CUDA nor KZOO_CPU");
}

kzoo_precision precision_of(const kzoo_options& options) {
  if (options.precision == 0) return KZOO_COMPUTE_FP32;
  if (options.precision != KZOO_COMPUTE_FP32 && options.precision != KZOO_COMPUTE_FP32_SPLIT) {
    throw kzoo::error(KZOO_INVALID_ARGUMENT,
                      "options.precision is neither KZOO_COMPUTE_FP32 nor KZOO_COMPUTE_FP32_SPLIT");
  }
  return options.precision;
}

std::string_view text(const char* s) { return s == nullptr ? "" : s; }

std::unique_ptr<chooser> chooser_for(const kzoo_options& options, const device& d) {
  const allowance allowed{precision_of(options), options.nondeterministic != 0};
  const plugin_finder plugins(text(options.plugins), d.abi().kind);
  const kernel_names names(plugins, text(options.declined));
  const bool named = !text(options.kernels).empty();
  std::unique_ptr<chooser> choice = std::make_unique<first_of>(
      named ? names.resolve_list(options.kernels) : names.defaults(d.abi().kind), allowed);
  if (text(options.tuned).empty()) return choice;
  return std::make_unique<tuned_choice>(read_tuned_table(options.tuned, d.abi(), d.name()), names,
                                        allowed, std::move(choice));
}

}  // namespace

kzoo_context::kzoo_context(const kzoo_options& options)
    : device_(open(options.device)),
      choice_(chooser_for(options, *device_)),
      most_problems_(options.cached_problems > 0 ? options.cached_problems : kProblems) {}

kzoo_context::kzoo_context(std::unique_ptr<device> d, std::unique_ptr<chooser> choice,
                           std::size_t most_problems)
    : device_(std::move(d)), choice_(std::move(choice)), most_problems_(most_problems) {}

kzoo_context::~kzoo_context() {
  try {
    const current_device scope(*device_);
    device_->wait_until_idle();
    streams_.clear();
  } catch (const kzoo::error&) {
    // The CUDA context is broken, or gone at the program's end: nothing can be freed.
    for (auto& [id, work] : streams_)
      static_cast<void>(new (std::nothrow) work_ptr(std::move(work)));
  }
}

outcome kzoo_context::run(const product& p) {
  const current_device scope(*device_);
  if (p.problem.k == 0) return run_without_product(p);
  const found on = find(p.stream);
  return on.work->run(p, on.is_one_of_many);
}

// Computes a product of zeros with alpha = 0.
outcome kzoo_context::run_without_product(product p) {
  kzoo_problem& of = p.problem;
  of = kzoo::product_of_zeros(of);
  const std::uint64_t bytes = kzoo::bytes_of_zeros(of);
  const std::unique_ptr<void, std::function<void(void*)>> zeros(
      device_->allocate(bytes, p.stream), [&](void* memory) { device_->free(memory, p.stream); });
  device_->fill_with_zeros(zeros.get(), bytes, p.stream);
  p.a = p.b = zeros.get();
  of.alignment = kzoo::common_alignment(p.a, p.b, p.c);
  return run(p);
}

kzoo_context::found kzoo_context::find(void* stream) {
  const std::uint64_t id = device_->stream_id(stream);
  const std::lock_guard lock(mutex_);
  work_ptr work = streams_[id];
  if (!work) {
    if (streams_.size() > kStreams) forget_streams();
    work = streams_[id] = std::make_shared<stream_work>(*device_, *choice_, most_problems_);
  }
  return {work, streams_.size() > kStreams / 2};
}

void kzoo_context::forget_streams() {
  // A running call also holds a reference.
  device_->outside_captures([&] {
    std::erase_if(streams_, [](const auto& of) {
      return of.second && of.second.use_count() == 1 && of.second->is_done();
    });
  });
}
