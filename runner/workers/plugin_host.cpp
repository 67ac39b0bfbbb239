#include "workers/plugin_host.hpp"

#include "core/operands.hpp"

#include <nlohmann/json.hpp>

namespace kzoo::workers {

using json = nlohmann::json;

json plugin_host::call(const json& request, double timeout_seconds) {
  json reply;
  try {
    reply = exchange(request, timeout_seconds);
  } catch (const setback&) {
    opened_ = false;
    throw;
  }
  if (!reply.contains("status")) return reply;
  const auto reason = reply.at("reason").get<std::string>();
  const auto status = reply.at("status").get<std::string>();
  if (status == "unsupported") throw setback(verdict::unsupported, reason);
  if (status == "unavailable") throw setback(verdict::unavailable, reason);
  // What an error left behind, a broken CUDA context say, must not meet the next cell.
  restart();
  opened_ = false;
  throw setback(verdict::error, reason);
}

plugin_description plugin_host::open() {
  const json reply = call({{"op", "open"}, {"file", file_.string()}}, timeout_seconds_);
  opened_ = true;
  return reply.at("plugin").get<plugin_description>();
}

void plugin_host::prepare(const std::string& device, std::uint32_t variant, const problem& p) {
  if (!opened_) open();
  output_bytes_ = static_cast<std::size_t>(data::word_count(operands_of(p).c)) * type_size(p.dtype);
  output_.reserve(output_bytes_);
  call({{"op", "prepare"}, {"device", device}, {"variant", variant}, {"problem", p}},
       timeout_seconds_);
}

run_report plugin_host::run() { return call({{"op", "run"}}, timeout_seconds_).get<run_report>(); }

sample_report plugin_host::sample(int warmup, int samples, double max_seconds) {
  const json request{
      {"op", "sample"}, {"warmup", warmup}, {"samples", samples}, {"max_seconds", max_seconds}};
  // Warm-up and sampling may each take max_seconds, and run over by one kernel.
  return call(request, 2 * (timeout_seconds_ + max_seconds)).get<sample_report>();
}

void plugin_host::release() {
  if (opened_) call({{"op", "release"}}, timeout_seconds_);
}

std::span<const std::byte> plugin_host::output() { return output_.view(output_bytes_); }

}  // namespace kzoo::workers
