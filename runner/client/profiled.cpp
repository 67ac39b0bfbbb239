#include "client/profiled.hpp"

#include "client/plugin_client.hpp"
#include "process/one_shot.hpp"
#include "worker/messages_json.hpp"

namespace kzoo::client {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(profiled_cell, file, device, variant, problem, warmup)

std::vector<std::string> profiled_command(const std::string& program, const profiled_cell& cell) {
  return process::one_shot_command(program, kProfiledCommand, cell);
}

void check_profiled(const std::string& output, const std::string& how_ended) {
  process::read_reply(output, how_ended, [](const auto&) {});
}

int profiled_main(std::string_view cell) {
  return process::answer_once(cell, [](const nlohmann::json& request) {
    const auto profiled = request.get<profiled_cell>();
    const auto client = make_local_client(profiled.file);
    client->prepare(profiled.device, profiled.variant, profiled.problem);
    client->profile(profiled.warmup);
    client->destroy();
    return nlohmann::ordered_json();
  });
}

}  // namespace kzoo::client
