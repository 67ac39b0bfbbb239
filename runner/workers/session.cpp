#include "workers/session.hpp"

#include "workers/messages.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstring>

namespace kzoo::workers {
namespace {

using json = nlohmann::json;

// Ends the handling of a request with a status; see session::handle.
struct refusal {
  const char* status;
  std::string reason;
};

// The caller's buffer for a plugin's sentence.
struct sentence {
  sentence() : text{characters.data(), characters.size()} {}
  std::string str(const char* instead) const {
    // It may have been filled to the last byte.
    const std::string words(characters.data(), strnlen(characters.data(), characters.size()));
    return words.empty() ? instead : words;
  }
  std::array<char, 2048> characters{};
  kzoo_text text;
};

// A plugin's answer to `supports` or `create` as a refusal, unless it is KZOO_OK.
void require_ok(kzoo_status status, const sentence& said) {
  switch (status) {
    case KZOO_OK:
      return;
    case KZOO_UNSUPPORTED:
      throw refusal{"unsupported", said.str("the plugin gives no reason")};
    case KZOO_UNAVAILABLE:
      throw refusal{"unavailable", said.str("the plugin gives no reason")};
    case KZOO_ERROR:
    case KZOO_LAUNCH_FAILED:
      throw refusal{"error", said.str("the plugin reports an error and gives no reason")};
    default:
      throw refusal{"error", fmt::format("the plugin returned {}, which is no status", status)};
  }
}

// The same for `run`: what has been created can no longer decline.
void require_ran(kzoo_status status, const sentence& said) {
  try {
    require_ok(status, said);
  } catch (const refusal& r) {
    throw refusal{"error", r.reason};
  }
}

plugin_description describe(const library& lib) {
  const kzoo_plugin& p = lib.plugin();
  const auto text = [](const char* s) { return std::string(s == nullptr ? "" : s); };
  plugin_description d{text(p.id), text(p.summary), text(p.build_info),
                       p.device,   p.native != 0,   {}};
  for (std::uint32_t i = 0; i < p.variant_count; ++i) {
    const kzoo_variant& v = lib.variant(i);
    variant_description out{text(v.id), text(v.summary), v.compute_capability, {}};
    for (std::uint32_t s = 0; s < v.signature_count; ++s) {
      const kzoo_signature& sig = v.signatures[s];
      const bool same = sig.type_a == sig.type_b && sig.type_b == sig.type_c;
      out.signatures.push_back({same ? sig.type_c : kzoo_type{0}, sig.compute});
    }
    d.variants.push_back(std::move(out));
  }
  return d;
}

launch describe(const kzoo_launch& l) {
  return {{l.grid[0], l.grid[1], l.grid[2]},
          {l.block[0], l.block[1], l.block[2]},
          l.dynamic_shared,
          l.static_shared,
          l.local_bytes,
          l.registers,
          l.resident_warps,
          l.most_warps};
}

// GPU clocks need time under load, not a number of runs, to come up: this much of max_seconds.
constexpr double kWarmupShare = 0.1;

class stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

// Memory on the device, freed with its owner.
class session::device_memory {
 public:
  device_memory(devices::backend& on, std::size_t bytes)
      : backend_(on), memory_(on.allocate(bytes)) {}
  ~device_memory() { backend_.release(memory_); }
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;

  void* get() const { return memory_; }

 private:
  devices::backend& backend_;
  void* memory_;
};

// One matrix on the device, with the zones around it.
struct session::device_matrix {
  device_matrix(devices::backend& on, const data::matrix& x)
      : spec(x),
        bytes(static_cast<std::size_t>(data::word_count(x)) * type_size(x.type)),
        memory(on, bytes) {
    on.fill(memory.get(), x);
  }
  // Element (0, 0), past the zone in front.
  void* first() const {
    return static_cast<char*>(memory.get()) + data::kGuard * type_size(spec.type);
  }

  data::matrix spec;
  std::size_t bytes;
  device_memory memory;
};

// The matrices of the problem that was prepared last.
struct session::matrices {
  matrices(devices::backend& on, const kzoo::problem& p, const operands& spec)
      : problem(p), a(on, spec.a), b(on, spec.b), c(on, spec.c) {}

  kzoo::problem problem;
  device_matrix a, b, c;
};

session::session(window& output) : output_(output) {}

session::~session() {
  try {
    release();
  } catch (const std::exception&) {
    // The device refuses to free: its context is broken, and ends with this process.
  }
}

json session::handle(const json& request) {
  const auto status = [](const char* name, const std::string& reason) {
    return json{{"status", name}, {"reason", reason}};
  };
  try {
    return dispatch(request);
  } catch (const refusal& r) {
    return status(r.status, r.reason);
  } catch (const unusable& e) {
    return status("unavailable", e.what());
  } catch (const std::exception& e) {
    return status("error", e.what());
  }
}

json session::dispatch(const json& request) {
  const auto op = request.at("op").get<std::string>();
  if (op == "open") return open(request);
  if (op == "prepare") return prepare(request);
  if (op == "run") return run();
  if (op == "sample") return sample(request);
  if (op == "finish") {
    finish();
    return json::object();
  }
  if (op == "release") {
    release();
    return json::object();
  }
  throw std::invalid_argument("no such request: " + op);
}

json session::open(const json& request) {
  library_.emplace(request.at("file").get<std::string>());
  return {{"plugin", describe(*library_)}};
}

json session::prepare(const json& request) {
  destroy_instance();
  const auto p = request.at("problem").get<problem>();
  const kzoo_variant& variant = library_->variant(request.at("variant").get<std::uint32_t>());
  if (!backend_) {
    device_ = devices::find(request.at("device").get<std::string>());
    backend_ = devices::open(device_.id);
  }

  const kzoo_problem abi = to_abi(p);
  sentence said;
  require_ok(variant.supports(&variant, &abi, &device_.abi, &said.text), said);
  make_matrices(p);
  if (const auto bytes = variant.workspace_bytes(&variant, &abi, &device_.abi); bytes > 0) {
    workspace_ = std::make_unique<device_memory>(*backend_, bytes);
  }
  require_ok(variant.create(&variant, &abi, &device_.abi, &instance_, &said.text), said);
  variant_ = &variant;
  return json::object();
}

json session::run() {
  if (const std::string left = backend_->pending_error(); !left.empty()) {
    throw refusal{"error", "an error was pending before the kernel was launched: " + left};
  }
  reset_c();
  std::array<kzoo_launch, 16> launches{};
  kzoo_launch_list list{
      sizeof(kzoo_launch_list), launches.data(), launches.size(), sizeof(kzoo_launch), 0, 0};
  call_plugin(&list);
  backend_->synchronize();
  publish_c();
  run_report report{count_changes(), {}};
  for (std::uint32_t i = 0; i < std::min(list.count, list.capacity); ++i) {
    report.launches.push_back(describe(launches[i]));
  }
  return report;
}

json session::sample(const json& request) {
  const auto samples = request.at("samples").get<std::size_t>();
  const auto max_seconds = request.at("max_seconds").get<double>();

  // Every sample starts from the same C, which with beta != 0 is an input.
  const auto one_sample = [&] {
    reset_c();
    return backend_->time_ms([this] { call_plugin(); });
  };
  const stopwatch warmup;
  const auto warmup_runs = request.at("warmup").get<int>();
  const double least =
      warmup_runs > 0 && device_.abi.kind == KZOO_CUDA ? kWarmupShare * max_seconds : 0;
  for (int i = 0; i < warmup_runs || warmup.seconds() < least; ++i) {
    if (warmup.seconds() > max_seconds) break;
    one_sample();
  }

  sample_report report;
  report.cold_cache = backend_->cold_cache();
  const stopwatch sampling;
  do {
    report.samples_ms.push_back(one_sample());
    report.out_of_time = report.samples_ms.size() < samples && sampling.seconds() > max_seconds;
  } while (report.samples_ms.size() < samples && !report.out_of_time);
  publish_c();
  report.changed = count_changes();
  return report;
}

// The end of a cell: what `destroy` does wrong is this variant's and not the next one's.
void session::finish() {
  destroy_instance();
  backend_->synchronize();
  if (const std::string error = backend_->pending_error(); !error.empty()) {
    throw refusal{"error", "left an error behind: " + error};
  }
}

void session::release() {
  destroy_instance();
  matrices_.reset();
}

void session::make_matrices(const problem& p) {
  if (matrices_ && matrices_->problem == p && !inputs_spoilt_) return;
  matrices_.reset();
  inputs_spoilt_ = false;
  matrices_ = std::make_unique<matrices>(*backend_, p, operands_of(p));
}

void session::destroy_instance() {
  if (variant_ != nullptr) variant_->destroy(variant_, instance_);
  variant_ = nullptr;
  instance_ = nullptr;
  workspace_.reset();
}

void session::call_plugin(kzoo_launch_list* launches) {
  const kzoo_arguments arguments{sizeof(kzoo_arguments),
                                 matrices_->a.first(),
                                 matrices_->b.first(),
                                 matrices_->c.first(),
                                 workspace_ ? workspace_->get() : nullptr,
                                 backend_->stream(),
                                 launches};
  sentence said;
  require_ran(variant_->run(variant_, instance_, &arguments, &said.text), said);
  if (const std::string error = backend_->pending_error(); !error.empty()) {
    throw refusal{"error", "launch failed, and the plugin did not say so: " + error};
  }
}

changes session::count_changes() {
  const auto changed = [this](const device_matrix& x) {
    return backend_->count_changed(x.memory.get(), x.spec);
  };
  const changes found{changed(matrices_->a), changed(matrices_->b)};
  // The next variant must not inherit them.
  if (found.a + found.b > 0) inputs_spoilt_ = true;
  return found;
}

void session::reset_c() { backend_->fill(matrices_->c.memory.get(), matrices_->c.spec); }

void session::publish_c() {
  const device_matrix& c = matrices_->c;
  backend_->copy_to_host(output_.view(c.bytes).data(), c.memory.get(), c.bytes);
}

}  // namespace kzoo::workers
