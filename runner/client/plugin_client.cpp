#include "client/plugin_client.hpp"

#include "core/kernel_name.hpp"
#include "core/operands.hpp"
#include "os/text.hpp"
#include "worker/messages_json.hpp"
#include "worker/plugin.hpp"
#include "worker/session.hpp"

#include <kzoo/identifier.hpp>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <system_error>

namespace kzoo::client {

using json = nlohmann::json;
using worker::operation;

json plugin_client::call(operation op, json request, double more_seconds) {
  request["op"] = name_of(op);
  json reply;
  try {
    reply = exchange(request, timeout_seconds_ + more_seconds);
  } catch (const failure&) {
    forget_session();
    throw;
  } catch (const std::system_error& e) {
    give_up(verdict::error, fmt::format("the worker could not be reached: {}", e.what()));
  }
  for (const auto& name : reply.value("libraries", std::vector<std::string>()))
    libraries_.insert(printable(name, kLongestText));
  if (!reply.contains("status")) return reply;
  const auto reason = printable(reply.value("reason", ""), kLongestText);
  const auto status = reply.value("status", "");
  const std::string_view step = step::from_name(reply.value("step", ""));
  if (status == "unsupported") throw failure(verdict::unsupported, reason);
  if (status == "unavailable") throw failure(verdict::unavailable, reason);
  if (status == "wrong") throw failure(verdict::wrong, reason, step);
  give_up(verdict::error, reason, step);
}

void plugin_client::give_up(verdict v, const std::string& reason, std::string_view step) {
  // The next cell must not inherit, for example, a broken CUDA context.
  leave();
  throw failure(v, reason, step);
}

// Converts the reply. A worker's reply is always valid, but a plugin can write to its channel.
template <class T>
T plugin_client::call_for(operation op, json request, double more_seconds) {
  try {
    return call(op, std::move(request), more_seconds).get<T>();
  } catch (const json::exception&) {
    refuse_forged();
  }
}

void plugin_client::refuse_forged() {
  give_up(verdict::crashed, "the plugin wrote into the worker's own channel", step::kChannel);
}

namespace {

std::size_t c_bytes(const problem& p) {
  return static_cast<std::size_t>(data::word_count(operands_of(p).c)) * type_size(p.dtype.c);
}

// Whether a worker may report this as a time or a clock rate.
bool is_figure(double x) { return std::isfinite(x) && x >= 0; }

struct opened {
  results::plugin_description plugin;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(opened, plugin)

class local_client final : public plugin_client {
 public:
  explicit local_client(std::filesystem::path file) : plugin_client(std::move(file), 0) {}

 protected:
  nlohmann::json exchange(const nlohmann::json& request, double) override {
    if (!session_) session_.emplace(plugin_, file().stem().string(), output_memory());
    return session_->handle(request);
  }
  // The library stays loaded, since unloading code that has run is not safe.
  void restart() override { session_.reset(); }
  std::optional<pid_t> session_process() const override { return getpid(); }

 private:
  worker::loaded_plugin plugin_;
  std::optional<worker::session> session_;
};

}  // namespace

results::plugin_description plugin_client::open() {
  auto plugin = call_for<opened>(operation::open, {{"file", file_.string()}}).plugin;
  const auto is_sound = [](const results::variant_description& v) {
    const size_granularity& g = v.granularity;
    return std::min({g.m, g.n, g.k, g.row_bytes}) >= 1 && !v.signatures.empty() &&
           v.id.size() <= kLongestIdentifier && is_identifier(v.id);
  };
  if (!std::ranges::all_of(plugin.variants, is_sound)) refuse_forged();
  opened_ = true;
  plugin.summary = printable_lines(plugin.summary, kLongestText);
  plugin.build_info = printable(plugin.build_info, kLongestText);
  for (std::string& file : plugin.libraries) file = printable(file, kLongestText);
  for (results::variant_description& v : plugin.variants)
    v.summary = printable_lines(v.summary, kLongestText);
  variants_ = plugin.variants;
  return plugin;
}

std::optional<std::string> plugin_client::objection(const std::string& device,
                                                    std::uint32_t variant, const problem& p) {
  support& known = support_of(device, variant, p);
  if (!known.answer) known.answer.emplace(ask_support(device, variant, p));
  return *known.answer;
}

std::optional<std::string> plugin_client::ask_support(const std::string& device,
                                                      std::uint32_t variant, const problem& p) {
  if (auto why = why_not_of_types(p)) return why;
  if (opened_ && !set_back()) leave();
  if (!opened_) open();
  try {
    call_for<json>(operation::supports, {{"device", device}, {"variant", variant}, {"problem", p}});
  } catch (const failure& f) {
    if (f.verdict != verdict::unsupported) throw;
    return f.what();
  }
  // The checks choose their sizes by the declared granularity.
  if (const auto broken = broken_by(variants_.at(variant).granularity, p))
    throw failure(verdict::error,
                  fmt::format("it says that it needs {}, and takes {}: either its granularity is "
                              "wrong (multiple_m, multiple_n, multiple_k, row_alignment), or "
                              "supports() must decline this",
                              *broken, problem_name(p)));
  return std::nullopt;
}

void plugin_client::prepare(const std::string& device, std::uint32_t variant, const problem& p,
                            int slot) {
  support& known = support_of(device, variant, p);
  const auto decline = [&](const std::string& why) {
    if (!known.prepared) throw failure(verdict::unsupported, why);
    known.rejected_later = "supports() refused a problem that it had accepted: " + why;
    throw failure(verdict::error, *known.rejected_later);
  };
  if (known.rejected_later) throw failure(verdict::error, *known.rejected_later);
  if (const auto why = ask_support(device, variant, p)) decline(*why);
  prepared_[slot] = p;
  prepared_variant_ = variant;
  const std::string run = name_of_run(variant, p);
  std::erase(ran_, run);
  ran_.push_back(run);
  try {
    call_for<json>(operation::prepare, {{"slot", slot},
                                        {"device", device},
                                        {"variant", variant},
                                        {"variant_id", variants_.at(variant).id},
                                        {"problem", p},
                                        {"declared", variants_.at(variant).declared(p.dtype)}});
  } catch (const failure& f) {
    if (f.verdict == verdict::unsupported) decline(f.what());
    throw;
  }
  known.prepared = true;
}

void plugin_client::refill(const problem& p, const std::string& move, int slot) {
  prepared_.at(slot) = p;
  call_for<json>(operation::refill, {{"slot", slot}, {"problem", p}, {"move", move}});
}

void plugin_client::expect(const worker::output_request& output, const problem& p) {
  if (!output.wanted) return;
  const std::size_t row = static_cast<std::size_t>(p.n) * type_size(p.dtype.c);
  output_bytes_ = output.rows.empty() ? c_bytes(p) : output.rows.size() * row;
  output_.reserve(output_bytes_);
}

worker::run_report plugin_client::run(const worker::run_request& request, int slot) {
  expect(request.output, prepared_.at(slot));
  return call_for<worker::run_report>(operation::run, {{"slot", slot}, {"how", request}});
}

void plugin_client::copy_result(int slot, const std::vector<std::int64_t>& rows) {
  worker::output_request output;
  output.rows = rows;
  expect(output, prepared_.at(slot));
  call_for<json>(operation::copy_result, {{"slot", slot}, {"rows", rows}});
}

worker::sample_report plugin_client::sample(const worker::sample_request& request) {
  // Warm-up and sampling may each take max_seconds, and overrun it by one kernel.
  auto report = call_for<worker::sample_report>(operation::sample, {{"slot", 0}, {"how", request}},
                                                timeout_seconds_ + 2 * request.max_seconds);
  if (report.samples_ms.empty() || report.sm_mhz.size() != report.samples_ms.size() ||
      !std::ranges::all_of(report.samples_ms, is_figure) ||
      !std::ranges::all_of(report.sm_mhz, is_figure) || !is_figure(report.seconds) ||
      !is_figure(report.warmup_seconds) || !is_figure(report.total_seconds)) {
    refuse_forged();
  }
  return report;
}

worker::sustain_report plugin_client::sustain(const worker::sustain_request& request) {
  const auto report = call_for<worker::sustain_report>(
      operation::sustain, {{"slot", 0}, {"how", request}}, 2 * request.seconds);
  const std::array figures{report.ms, report.begin_seconds, report.end_seconds};
  if (report.runs < 1 || !std::ranges::all_of(figures, is_figure)) refuse_forged();
  return report;
}

worker::end_to_end_report plugin_client::end_to_end() {
  const auto report = call_for<worker::end_to_end_report>(operation::end_to_end, {{"slot", 0}});
  const timing::end_to_end& t = report.times;
  const std::array all{t.allocate_ms, t.to_device_ms, t.kernel_ms, t.to_host_ms};
  if (!std::ranges::all_of(all, is_figure)) refuse_forged();
  return report;
}

void plugin_client::profile(int warmup) {
  call_for<json>(operation::profile, {{"slot", 0}, {"warmup", warmup}});
}

double plugin_client::longest_pause_ms(const std::string& device) {
  if (!opened_) open();
  const auto report =
      call_for<worker::pause_report>(operation::longest_pause, {{"device", device}});
  if (!is_figure(report.pause_ms)) refuse_forged();
  return report.pause_ms;
}

void plugin_client::destroy(int slot) { call_for<json>(operation::destroy, {{"slot", slot}}); }

std::optional<worker::memory_report> plugin_client::free_memory(const devices::nvml* monitor) {
  if (!opened_) return std::nullopt;
  auto now = call_for<worker::memory_report>(operation::free_memory, json::object());
  const std::optional<std::int64_t> host_before = std::exchange(host_in_use_, now.host);
  const auto listed = monitor != nullptr && session_process()
                          ? monitor->memory_of(*session_process())
                          : std::nullopt;
  if (const auto before = std::exchange(device_in_use_, listed); listed && before)
    now.device = *listed - *before;
  return worker::memory_report{now.host - host_before.value_or(now.host), now.device,
                               now.device_free, printable(now.limits, kLongestText), !host_before};
}

void plugin_client::leave() {
  restart();
  forget_session();
}

void plugin_client::note_replacement(const std::string& how_it_ended) {
  replacement_ = how_it_ended;
}

std::vector<std::string> plugin_client::unnamed_libraries() const {
  const std::string own = file_.stem().string();
  std::vector<std::string> unnamed;
  for (const std::string& name : libraries_)
    if (own.find(name) == std::string::npos) unnamed.push_back(name);
  return unnamed;
}

std::string plugin_client::take_interference(std::uint32_t variant) {
  using by_whom = std::optional<std::uint32_t>;
  for (const by_whom by : {by_whom(variant), by_whom()})
    if (const auto found = interference_.extract(by)) return found.mapped();
  return "";
}

void plugin_client::forget_session() {
  opened_ = false;
  host_in_use_.reset();
  device_in_use_.reset();
  ran_.clear();
}

std::string plugin_client::name_of_run(std::uint32_t variant, const problem& p) const {
  const std::string id = variant < variants_.size() ? variants_[variant].id : "?";
  return fmt::format("{}:{} at {}", file_.stem().string(), id, shape_name(p));
}

std::string plugin_client::ran_before(std::uint32_t variant, const problem& p) const {
  const std::string own = name_of_run(variant, p);
  const auto other =
      std::find_if(ran_.rbegin(), ran_.rend(), [&](const std::string& run) { return run != own; });
  return other == ran_.rend() ? "" : *other;
}

std::span<const std::byte> plugin_client::output() { return output_.view(output_bytes_); }

std::unique_ptr<plugin_client> make_local_client(std::filesystem::path file) {
  return std::make_unique<local_client>(std::move(file));
}

}  // namespace kzoo::client
