#include "worker/session.hpp"

#include "core/verdict.hpp"
#include "os/posix.hpp"
#include "worker/messages.hpp"
#include "worker/messages_json.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <list>
#include <optional>
#include <stdexcept>
#include <utility>

namespace kzoo::worker {

using json = nlohmann::json;

json answer(const std::function<nlohmann::json()>& work) {
  const auto status = [](const char* name, const std::string& reason, std::string_view step = "") {
    return json{{"status", name}, {"reason", reason}, {"step", step}};
  };
  try {
    return work();
  } catch (const refusal& r) {
    return status(r.status, r.reason, r.step);
  } catch (const unusable& e) {
    return status("unavailable", e.what());
  } catch (const failure&) {
    throw;
  } catch (const std::exception& e) {
    return status("error", e.what());
  }
}

session::session(plugin& plugin, std::string name, process::shared_memory& output,
                 const loaded_code* own_code, devices::host_memory* memory)
    : plugin_(plugin),
      name_(std::move(name)),
      output_(output),
      own_code_(own_code),
      memory_(memory) {}

session::~session() {
  try {
    kernels_.clear();
  } catch (const std::exception&) {
    // Freeing fails if the CUDA context is broken; the context ends with this process.
  }
}

json session::handle(const json& request) {
  json reply = answer([&] { return dispatch(request.at("op").get<std::string>(), request); });
  if (const auto libraries = plugin_.product_libraries(); !libraries.empty())
    reply["libraries"] = libraries;
  return reply;
}

json session::dispatch(const std::string& name, const json& request) {
  const auto op = from_name<operation>(name);
  if (!op) throw std::invalid_argument("no such request: " + name);
  const phase_range phase(name);
  switch (*op) {
    case operation::open: return open(request);
    case operation::supports: return supports(request);
    case operation::prepare: return prepare(request);
    case operation::refill:
      kernel_in(request).refill(request.at("problem").get<problem>(),
                                request.at("move").get<std::string>());
      break;
    case operation::run: return kernel_in(request).run(request.at("how").get<run_request>());
    case operation::sample:
      return kernel_in(request).sample(request.at("how").get<sample_request>());
    case operation::sustain:
      return kernel_in(request).sustain(request.at("how").get<sustain_request>());
    case operation::end_to_end: return kernel_in(request).end_to_end();
    case operation::profile: kernel_in(request).profile(request.at("warmup").get<int>()); break;
    case operation::copy_result:
      kernel_in(request).copy_result(request.at("rows").get<std::vector<std::int64_t>>());
      break;
    case operation::longest_pause: return pause_report{device_of(request).longest_pause_ms()};
    case operation::destroy:
      ranges_.erase(request.at("slot").get<int>());
      kernel_in(request).destroy();
      check_own_code();
      break;
    case operation::free_memory: return free_memory();
  }
  return json::object();
}

json session::open(const json& request) {
  const std::filesystem::path file = request.at("file").get<std::string>();
  name_ = file.stem().string();
  return {{"plugin", plugin_.open(file)}};
}

json session::supports(const json& request) {
  device_of(request);
  plugin_.ask_support(request.at("variant").get<std::uint32_t>(),
                      request.at("problem").get<problem>(), device_.abi);
  return json::object();
}

json session::prepare(const json& request) {
  devices::backend& device = device_of(request);
  const int slot = request.at("slot").get<int>();
  const auto p = request.at("problem").get<problem>();
  if (kernels_.empty()) free_before_ = device.free_memory();
  ranges_.erase(slot);
  cell_range range(fmt::format("{}:{}@{}", name_, request.value("variant_id", ""), shape_name(p)));
  kernels_.try_emplace(slot, plugin_, slot, device, device_, output_, history_)
      .first->second.prepare(request.at("variant").get<std::uint32_t>(), p,
                             request.at("declared").get<kzoo_precision>());
  ranges_.emplace(slot, std::move(range));  // NOLINT(performance-move-const-arg): not so with NVTX
  return json::object();
}

json session::free_memory() {
  ranges_.clear();
  kernels_.clear();
  memory_report now;
  now.host = plugin_.heap_in_use();
  if (backend_ == nullptr) return now;
  now.device_free = backend_->free_memory();
  now.device = free_before_ - now.device_free;
  now.limits = backend_->restore_limits();
  return now;
}

void session::check_own_code() const {
  if (own_code_ == nullptr) return;
  const auto changed = own_code_->changed();
  if (!changed) return;
  throw refusal{"error",
                fmt::format("changed the code of {} in its process: neither its times nor "
                            "its results can be trusted",
                            *changed),
                step::kCode};
}

void session::open_device(const std::string& name) try {
  device_ = devices::find(name);
  backend_ = memory_ == nullptr ? devices::open(device_.id) : devices::open_cpu(memory_);
} catch (const std::exception&) {
  no_device_ = std::current_exception();
}

devices::backend& session::device_of(const json& request) {
  if (!backend_ && !no_device_) open_device(request.at("device").get<std::string>());
  if (no_device_) std::rethrow_exception(no_device_);
  return *backend_;
}

prepared_kernel& session::kernel_in(const json& request) {
  return kernels_.at(request.at("slot").get<int>());
}

namespace {

// A copy in pageable host memory, as in most programs; its pages have been touched.
std::vector<std::byte> on_host(devices::backend& backend, const device_matrix& x) {
  std::vector<std::byte> words(x.bytes());
  backend.copy_to_host(words.data(), x.words(), words.size());
  return words;
}

template <class Work>
double ms_of(const Work& work) {
  constexpr double kMsPerSecond = 1000;
  const double start = steady_seconds();
  work();
  return kMsPerSecond * (steady_seconds() - start);
}

}  // namespace

end_to_end_report prepared_kernel::end_to_end() {
  fill(fresh_seed());
  std::vector<std::vector<std::byte>> on_hosts;
  for (const auto& input : matrices_.inputs) on_hosts.push_back(on_host(backend_, *input));
  std::vector<std::byte> c = on_host(backend_, *matrices_.c);
  std::list<device_memory> on_device;  // the inputs
  std::optional<device_memory> on_device_c, workspace;
  backend_.synchronize();

  end_to_end_report report;
  report.times.allocate_ms = ms_of([&] {
    for (const std::vector<std::byte>& input : on_hosts)
      on_device.emplace_back(backend_, input.size());
    on_device_c.emplace(backend_, c.size());
    if (workspace_bytes_ > 0) workspace.emplace(backend_, workspace_bytes_);
  });
  const auto first = [](const device_memory& memory, const device_matrix& like) {
    return static_cast<char*>(memory.get()) + like.offset_of_first();
  };
  placement where{{}, first(*on_device_c, *matrices_.c), workspace ? workspace->get() : nullptr};
  for (const device_memory& memory : on_device)
    where.inputs.push_back(first(memory, *matrices_.inputs[where.inputs.size()]));
  plugin_.place(slot_, where, backend_.stream());  // before there is anything to multiply
  const auto send_c = [&] { backend_.copy_to_device(on_device_c->get(), c.data(), c.size()); };
  const bool c_is_input = matrices_.problem.beta != 0;
  report.times.to_device_ms = ms_of([&] {
    auto to = on_device.begin();
    for (const std::vector<std::byte>& input : on_hosts)
      backend_.copy_to_device((to++)->get(), input.data(), input.size());
    if (c_is_input) send_c();
    backend_.synchronize();
  });
  if (!c_is_input) send_c();  // poison for the check, so outside the timed copies
  backend_.synchronize();
  report.times.kernel_ms = ms_of([&] {
    call_plugin();
    backend_.synchronize();
  });
  place();
  report.times.to_host_ms =
      ms_of([&] { backend_.copy_to_host(c.data(), on_device_c->get(), c.size()); });

  // Judges the C that was copied back.
  matrices_.c->copy_from_host(c.data());
  report.judged =
      report_on(backend_.judge(matrices_.c->words(), expected(), devices::random_key()));
  return report;
}

}  // namespace kzoo::worker
