#pragma once
// A one-shot child: this executable, started with a hidden first argument and a request. It prints
// its reply as one line of JSON, after all plugin output, and ends.

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::process {

// The command line that starts a one-shot child. `program`: path of the runner.
std::vector<std::string> one_shot_command(const std::string& program, std::string_view command,
                                          const nlohmann::json& request);

// Prefix of the line with the reply.
inline constexpr std::string_view kReply = "kernel-zoo reply: ";

// The child's main function: prints answer(request) or its failure. Returns the exit code.
int answer_once(std::string_view request,
                const std::function<nlohmann::ordered_json(const nlohmann::json&)>& answer);

// Calls read() with the reply in a child's output. Code of an author runs in that process and can
// forge a reply. Therefore read() must not trust it, and no verdict depends on it. Throws the
// child's failure; `crashed`, with `how_ended`, if there is no reply; `error` if the reply is
// malformed.
void read_reply(const std::string& output, const std::string& how_ended,
                const std::function<void(const nlohmann::ordered_json&)>& read);

}  // namespace kzoo::process
