#pragma once
// A one-shot child: this same executable, started with a hidden first argument and a request. It
// prints its reply as one line of JSON, after whatever a plugin in it has printed, and ends.

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::process {

// The command line that starts one. `program`: a runner.
std::vector<std::string> one_shot_command(const std::string& program, std::string_view command,
                                          const nlohmann::json& request);

// Starts the line with the reply.
inline constexpr std::string_view kReply = "kernel-zoo reply: ";

// The main function of the child: prints what answer(request) returns, or the failure that it
// throws. Returns the exit code.
int answer_once(std::string_view request,
                const std::function<nlohmann::ordered_json(const nlohmann::json&)>& answer);

// Calls read() with the reply among what a child has printed. What is an author's runs in the same
// process and can print one, too: read() believes nothing of it, and no verdict depends on it.
// Throws failure: that of the child; `crashed` where it has ended without a reply, as `how_ended`
// says; `error` for a reply of another kind.
void read_reply(const std::string& output, const std::string& how_ended,
                const std::function<void(const nlohmann::ordered_json&)>& read);

}  // namespace kzoo::process
