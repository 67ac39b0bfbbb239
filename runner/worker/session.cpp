#include "worker/session.hpp"
#include "core/step.hpp"

#include "worker/loaded_libraries.hpp"
#include "worker/messages_json.hpp"
#include "worker/operations.hpp"
#include "worker/plugin_calls.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

namespace kzoo::worker {
namespace {

using json = nlohmann::json;

results::plugin_description describe(const library& lib) {
  const kzoo_plugin& p = lib.plugin();
  const auto text = [](const char* s) { return std::string(s == nullptr ? "" : s); };
  results::plugin_description d{
      text(p.id), text(p.summary), text(p.build_info), p.device, p.native != 0, {}, {}};
  for (std::uint32_t i = 0; i < p.variant_count; ++i) {
    const kzoo_variant& v = lib.variant(i);
    results::variant_description out;
    out.id = text(v.id);
    out.summary = text(v.summary);
    out.compute_capability = v.compute_capability;
    out.nondeterministic = v.nondeterministic != 0;
    const auto multiple = [](std::uint32_t x) { return std::max<std::int64_t>(1, x); };
    out.granularity = {multiple(v.multiple_m), multiple(v.multiple_n), multiple(v.multiple_k),
                       multiple(v.row_alignment)};
    for (std::uint32_t s = 0; s < v.signature_count; ++s) {
      const kzoo_signature& sig = v.signatures[s];
      out.signatures.push_back({{sig.type_a, sig.type_b, sig.type_c}, sig.compute});
    }
    d.variants.push_back(std::move(out));
  }
  return d;
}

std::int64_t heap_in_use() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
}

}  // namespace

session::session(process::shared_memory& output, const loaded_code* own_code)
    : output_(output), own_code_(own_code), libraries_before_(product_libraries()) {}

session::~session() {
  try {
    kernels_.clear();
  } catch (const std::exception&) {
    // Freeing fails if the CUDA context is broken; the context ends with this process.
  }
}

json session::handle(const json& request) {
  json reply = reply_to(request);
  std::vector<std::string> libraries;
  std::ranges::set_difference(product_libraries(), libraries_before_,
                              std::back_inserter(libraries));
  if (!libraries.empty()) reply["libraries"] = libraries;
  return reply;
}

json session::reply_to(const json& request) {
  const auto status = [](const char* name, const std::string& reason, std::string_view step = "") {
    return json{{"status", name}, {"reason", reason}, {"step", step}};
  };
  try {
    return dispatch(request.at("op").get<std::string>(), request);
  } catch (const refusal& r) {
    return status(r.status, r.reason, r.step);
  } catch (const unusable& e) {
    return status("unavailable", e.what());
  } catch (const std::exception& e) {
    return status("error", e.what());
  }
}

json session::dispatch(const std::string& name, const json& request) {
  const auto op = find_operation(name);
  if (!op) throw std::invalid_argument("no such request: " + name);
  const phase_range phase(name);
  switch (*op) {
    case operation::open:
      return open(request);
    case operation::supports:
      return supports(request);
    case operation::prepare:
      return prepare(request);
    case operation::refill:
      kernel_in(request).refill(request.at("problem").get<problem>(),
                                request.at("move").get<std::string>());
      break;
    case operation::run:
      return kernel_in(request).run(request.at("how").get<run_request>());
    case operation::sample:
      return kernel_in(request).sample(request.at("how").get<sample_request>());
    case operation::sustain:
      return kernel_in(request).sustain(request.at("how").get<sustain_request>());
    case operation::end_to_end:
      return kernel_in(request).end_to_end();
    case operation::profile:
      kernel_in(request).profile(request.at("warmup").get<int>());
      break;
    case operation::copy_result:
      kernel_in(request).copy_result();
      break;
    case operation::longest_pause:
      return pause_report{device_of(request).longest_pause_ms()};
    case operation::destroy:
      ranges_.erase(request.at("slot").get<int>());
      kernel_in(request).destroy();
      check_own_code();
      break;
    case operation::free_memory:
      return free_memory();
  }
  return json::object();
}

json session::open(const json& request) {
  const std::filesystem::path file = request.at("file").get<std::string>();
  const std::set<std::string> before = loaded_libraries();
  library_.emplace(file);
  name_ = file.stem().string();
  results::plugin_description d = describe(*library_);
  std::set<std::string> after = loaded_libraries();
  after.erase(std::filesystem::absolute(file).string());
  std::ranges::set_difference(after, before, std::back_inserter(d.libraries));
  return {{"plugin", std::move(d)}};
}

json session::supports(const json& request) {
  device_of(request);
  const auto p = request.at("problem").get<problem>();
  ask_support(variant(request), to_abi(p), device_.abi);
  return json::object();
}

json session::prepare(const json& request) {
  devices::backend& device = device_of(request);
  const int slot = request.at("slot").get<int>();
  const auto p = request.at("problem").get<problem>();
  if (kernels_.empty()) free_before_ = device.free_memory();
  ranges_.erase(slot);
  cell_range range(fmt::format("{}:{}@{}", name_, variant(request).id, shape_name(p)));
  kernels_.try_emplace(slot, device, device_, output_, history_)
      .first->second.prepare(variant(request), p, request.at("declared").get<kzoo_precision>());
  ranges_.emplace(slot, std::move(range));  // NOLINT(performance-move-const-arg): not so with NVTX
  return json::object();
}

json session::free_memory() {
  ranges_.clear();
  kernels_.clear();
  memory_report now;
  now.host = heap_in_use();
  if (backend_ == nullptr) return now;
  now.device_free = backend_->free_memory();
  now.device = free_before_ - now.device_free;
  now.limits = backend_->restore_limits();
  return now;
}

void session::check_own_code() const {
  const std::string changed = own_code_ == nullptr ? "" : own_code_->changed();
  if (changed.empty()) return;
  throw refusal{"error",
                fmt::format("changed the code of {} in its process: neither its times nor "
                            "its results can be trusted",
                            changed),
                step::kCode};
}

void session::open_device(const std::string& name) try {
  device_ = devices::find(name);
  backend_ = devices::open(device_.id);
} catch (const std::exception&) {
  no_device_ = std::current_exception();
}

devices::backend& session::device_of(const json& request) {
  if (!backend_ && !no_device_) open_device(request.at("device").get<std::string>());
  if (no_device_) std::rethrow_exception(no_device_);
  return *backend_;
}

const kzoo_variant& session::variant(const json& request) const {
  return library_->variant(request.at("variant").get<std::uint32_t>());
}

prepared_kernel& session::kernel_in(const json& request) {
  return kernels_.at(request.at("slot").get<int>());
}

}  // namespace kzoo::worker
