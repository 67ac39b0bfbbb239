#include "worker/calls.hpp"

#include "devices/devices.hpp"
#include "devices/guarded_memory.hpp"
#include "worker/messages_json.hpp"
#include "worker/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>

namespace kzoo::worker {
namespace {

using json = nlohmann::json;

void* address_in(const json& number) {
  return reinterpret_cast<void*>(number.get<std::uintptr_t>());  // NOLINT: of this process
}
json number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

// Keeps names as long as the process lives.
const char* kept(const std::string& name) {
  static std::set<std::string> names;
  return names.insert(name).first->c_str();
}

}  // namespace

calls::calls(plugin& of, int shared_file)
    : plugin_(of), shared_file_(shared_file), device_(devices::find("cpu")) {}

bool calls::has(std::string_view op) {
  constexpr std::array<std::string_view, 10> kAll{
      "map", "unmap", "ask", "workspace", "create", "place", "call", "launches", "end", "heap"};
  return std::ranges::find(kAll, op) != kAll.end();
}

json calls::handle(const json& request) {
  json reply = answer([&] { return dispatch(request); });
  if (request.value("op", "") == "call") return reply;  // it is timed
  if (const auto libraries = plugin_.product_libraries(); !libraries.empty())
    reply["libraries"] = libraries;
  return reply;
}

json calls::dispatch(const json& request) {
  const auto op = request.at("op").get<std::string>();
  const auto slot = [&] { return request.at("slot").get<int>(); };
  const auto variant = [&] { return request.at("variant").get<std::uint32_t>(); };
  const auto of = [&] { return request.at("problem").get<problem>(); };
  if (op == "call") return call(slot());
  if (op == "map") return map(request);
  if (op == "unmap") {
    devices::release_guarded(address_in(request.at("at")));
  } else if (op == "ask") {
    plugin_.ask_support(variant(), of(), device_.abi);
  } else if (op == "workspace") {
    return {{"bytes", plugin_.workspace_bytes(variant(), of(), device_.abi)}};
  } else if (op == "create") {
    plugin_.create(slot(), variant(), of(), device_.abi);
  } else if (op == "place") {
    place(request);
  } else if (op == "launches") {
    return {{"launches", plugin_.launches(slot())}};
  } else if (op == "end") {
    inputs_.erase(slot());
    plugin_.destroy(slot());
  } else if (op == "heap") {
    return {{"bytes", plugin_.heap_in_use()}};
  }
  return json::object();
}

json calls::map(const json& request) const {
  const auto bytes = request.at("bytes").get<std::size_t>();
  void* at = devices::allocate_guarded(
      bytes, request.at("around").get<std::size_t>(), kept(request.at("name").get<std::string>()),
      devices::file_part{shared_file_, request.at("offset").get<std::size_t>()});
  if (at == nullptr) throw std::runtime_error(fmt::format("cannot map {} bytes", bytes));
  return {{"at", number_of(at)}};
}

// Only the judge writes to inputs, through its own mapping.
void calls::place(const json& request) {
  placement where{{}, address_in(request.at("c")), address_in(request.at("workspace"))};
  for (const json& input : request.at("inputs")) {
    where.inputs.push_back(address_in(input));
    devices::set_read_only(where.inputs.back(), true);
  }
  const int slot = request.at("slot").get<int>();
  plugin_.place(slot, where, nullptr);
  inputs_[slot] = where.inputs;
}

json calls::call(int slot) {
  plugin_.run(slot);
  json reply = json::object();
  for (const void* input : inputs_.at(slot)) {
    const std::int64_t written = devices::take_noted_write(input);
    if (written < 0) continue;
    reply["writes"].push_back({number_of(input), written});
    devices::set_read_only(input, true);
  }
  return reply;
}

}  // namespace kzoo::worker
