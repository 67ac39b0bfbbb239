#include "workers/plugin_host.hpp"

#include "core/operands.hpp"
#include "core/printable.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <system_error>

namespace kzoo::workers {

using json = nlohmann::json;

json plugin_host::call(const json& request, double timeout_seconds) {
  const auto start_afresh = [this](verdict v, const std::string& reason) {
    // What an error left behind, a broken CUDA context say, must not meet the next cell.
    restart();
    opened_ = false;
    throw setback(v, reason);
  };
  json reply;
  try {
    reply = exchange(request, timeout_seconds);
  } catch (const setback&) {
    opened_ = false;
    throw;
  } catch (const std::system_error& e) {
    start_afresh(verdict::error, fmt::format("the worker could not be reached: {}", e.what()));
  }
  if (!reply.contains("status")) return reply;
  const auto reason = printable(reply.value("reason", ""));
  const auto status = reply.value("status", "");
  if (status == "unsupported") throw setback(verdict::unsupported, reason);
  if (status == "unavailable") throw setback(verdict::unavailable, reason);
  start_afresh(verdict::error, reason);
  return {};
}

// The reply as what it should be. A worker says nothing else, but a plugin can write to its
// channel.
template <class T>
T plugin_host::call_for(const json& request, double timeout_seconds) {
  try {
    return call(request, timeout_seconds).get<T>();
  } catch (const json::exception&) {
    refuse_forged();
  }
}

void plugin_host::refuse_forged() {
  restart();
  opened_ = false;
  throw setback(verdict::crashed, "the plugin wrote into the worker's own channel");
}

namespace {

struct opened {
  plugin_description plugin;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(opened, plugin)

}  // namespace

plugin_description plugin_host::open() {
  auto plugin =
      call_for<opened>({{"op", "open"}, {"file", file_.string()}}, timeout_seconds_).plugin;
  opened_ = true;
  for (std::string* text : {&plugin.summary, &plugin.build_info}) *text = printable(*text);
  for (variant_description& v : plugin.variants) v.summary = printable(v.summary);
  return plugin;
}

void plugin_host::prepare(const std::string& device, std::uint32_t variant, const problem& p) {
  if (!opened_) open();
  output_bytes_ = static_cast<std::size_t>(data::word_count(operands_of(p).c)) * type_size(p.dtype);
  output_.reserve(output_bytes_);
  call_for<json>({{"op", "prepare"}, {"device", device}, {"variant", variant}, {"problem", p}},
                 timeout_seconds_);
}

run_report plugin_host::run() { return call_for<run_report>({{"op", "run"}}, timeout_seconds_); }

sample_report plugin_host::sample(int warmup, int samples, double max_seconds) {
  const json request{
      {"op", "sample"}, {"warmup", warmup}, {"samples", samples}, {"max_seconds", max_seconds}};
  // Warm-up and sampling may each take max_seconds, and run over by one kernel.
  auto report = call_for<sample_report>(request, 2 * (timeout_seconds_ + max_seconds));
  const auto is_time = [](double ms) { return std::isfinite(ms) && ms >= 0; };
  if (report.samples_ms.empty() || !std::ranges::all_of(report.samples_ms, is_time)) {
    refuse_forged();
  }
  return report;
}

void plugin_host::finish() { call_for<json>({{"op", "finish"}}, timeout_seconds_); }

void plugin_host::release() {
  if (opened_) call_for<json>({{"op", "release"}}, timeout_seconds_);
}

std::span<const std::byte> plugin_host::output() { return output_.view(output_bytes_); }

}  // namespace kzoo::workers
