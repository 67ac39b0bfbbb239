#include "client/remote_plugin.hpp"

#include "core/verdict.hpp"
#include "devices/backend.hpp"
#include "devices/guarded_memory.hpp"
#include "worker/messages_json.hpp"
#include "worker/plugin.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <exception>
#include <iterator>
#include <string_view>
#include <utility>

namespace kzoo::client {
namespace {

using json = nlohmann::json;

[[noreturn]] void refuse_forged() {
  throw failure(verdict::crashed, "the plugin wrote into the worker's own channel", step::kChannel);
}

// Returns a literal, which the refusal may keep.
const char* kept_status(std::string_view name) {
  constexpr std::array kAll{"unsupported", "unavailable", "wrong", "error"};
  for (const char* each : kAll)
    if (name == each) return each;
  refuse_forged();
}

}  // namespace

const std::pair<std::byte* const, shared_matrices::allocation>& shared_matrices::holding(
    const void* here) const {
  const auto* at = static_cast<const std::byte*>(here);
  return *std::prev(allocations_.upper_bound(const_cast<std::byte*>(at)));  // NOLINT: a key
}

std::uintptr_t shared_matrices::there(const void* here) const {
  const auto& [begin, of] = holding(here);
  return of.there + static_cast<std::uintptr_t>(static_cast<const std::byte*>(here) - begin);
}

void shared_matrices::note_write(std::uintptr_t at, std::int64_t offset) {
  for (auto& [begin, of] : allocations_)
    if (at >= of.there && at < of.there + of.bytes && of.written < 0) of.written = offset;
}

void* shared_matrices::allocate(std::size_t bytes, const devices::surroundings& around) {
  const std::size_t pages = devices::guarded_pages(bytes);
  if (pages < bytes || static_cast<double>(pages_.bytes()) + static_cast<double>(pages) > most_)
    throw devices::failure(fmt::format(
        "cannot allocate {} bytes: all matrices together may have {:.1f} GB", bytes, most_ / 1e9));
  allocation made{pages_.take(pages), bytes};
  try {
    const json reply = ask_({{"op", "map"},
                             {"offset", made.pages.offset},
                             {"bytes", bytes},
                             {"around", around.bytes},
                             {"name", around.name}});
    if (reply.contains("status"))
      throw devices::failure(reply.value("reason", "the worker cannot map it"));
    made.there = reply.at("at").get<std::uintptr_t>();
  } catch (const json::exception&) {
    pages_.give_back(made.pages);
    refuse_forged();
  } catch (...) {
    pages_.give_back(made.pages);
    throw;
  }
  std::byte* const here = made.pages.here + devices::guarded_offset(bytes);
  allocations_.emplace(here, made);
  return here;
}

// An unreachable worker's mappings end with it.
void shared_matrices::release(void* memory) {
  const auto found = allocations_.extract(static_cast<std::byte*>(memory));
  if (!found) return;
  pages_.give_back(found.mapped().pages);
  try {
    ask_({{"op", "unmap"}, {"at", found.mapped().there}});
  } catch (...) {  // even a signal: the next wait reports it
  }
}

std::int64_t shared_matrices::take_noted_write(const void* memory) {
  const auto found = allocations_.find(
      const_cast<std::byte*>(static_cast<const std::byte*>(memory)));  // NOLINT: a key
  return found == allocations_.end() ? -1 : std::exchange(found->second.written, -1);
}

json remote_plugin::ask(const json& request) try {
  json reply = ask_(request);
  if (reply.contains("libraries"))
    libraries_ = reply.at("libraries").get<std::vector<std::string>>();
  if (!reply.contains("status")) return reply;
  throw worker::refusal{kept_status(reply.at("status").get<std::string>()),
                        reply.at("reason").get<std::string>(),
                        step::from_name(reply.value("step", ""))};
} catch (const json::exception&) {
  refuse_forged();
}

template <class T>
T remote_plugin::ask_for(const json& request, const char* field) {
  const json reply = ask(request);
  try {
    return reply.at(field).get<T>();
  } catch (const json::exception&) {
    refuse_forged();
  }
}

results::plugin_description remote_plugin::open(const std::filesystem::path& file) {
  return ask_for<results::plugin_description>({{"op", "open"}, {"file", file.string()}}, "plugin");
}

void remote_plugin::ask_support(std::uint32_t variant, const problem& p, const kzoo_device&) {
  ask({{"op", "ask"}, {"variant", variant}, {"problem", p}});
}

std::uint64_t remote_plugin::workspace_bytes(std::uint32_t variant, const problem& p,
                                             const kzoo_device&) {
  return ask_for<std::uint64_t>({{"op", "workspace"}, {"variant", variant}, {"problem", p}},
                                "bytes");
}

void remote_plugin::create(int slot, std::uint32_t variant, const problem& p, const kzoo_device&) {
  ask({{"op", "create"}, {"slot", slot}, {"variant", variant}, {"problem", p}});
}

void remote_plugin::place(int slot, const worker::placement& where, void*) {
  json request{{"op", "place"},
               {"slot", slot},
               {"inputs", json::array()},
               {"c", memory_.there(where.c)},
               {"workspace", where.workspace == nullptr ? 0 : memory_.there(where.workspace)}};
  for (const void* input : where.inputs) request["inputs"].push_back(memory_.there(input));
  ask(request);
}

void remote_plugin::run(int slot) {
  const json reply = ask({{"op", "call"}, {"slot", slot}});
  if (!reply.contains("writes")) return;
  try {
    for (const json& each : reply.at("writes"))
      memory_.note_write(each.at(0).get<std::uintptr_t>(), each.at(1).get<std::int64_t>());
  } catch (const json::exception&) {
    refuse_forged();
  }
}

std::vector<results::launch> remote_plugin::launches(int slot) {
  return ask_for<std::vector<results::launch>>({{"op", "launches"}, {"slot", slot}}, "launches");
}

void remote_plugin::destroy(int slot) { ask({{"op", "end"}, {"slot", slot}}); }

std::int64_t remote_plugin::heap_in_use() {
  return ask_for<std::int64_t>({{"op", "heap"}}, "bytes");
}

}  // namespace kzoo::client
