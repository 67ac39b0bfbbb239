#include "process/one_shot.hpp"

#include "core/verdict.hpp"
#include "os/printable.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>

namespace kzoo::process {
namespace {

using json = nlohmann::ordered_json;

json to_json(verdict v, const char* reason) {
  return {{"verdict", verdict_name(v)}, {"reason", reason}};
}

// Begins a new line, since the plugin's output may not end with a line break.
int print(const json& reply, int code) {
  fmt::print("\n{}{}\n", kReply, reply.dump(-1, ' ', false, json::error_handler_t::replace));
  std::fflush(stdout);
  return code;
}

void rethrow(const json& reply) {
  const std::string reason = printable(reply.at("reason").get<std::string>(), kLongestText);
  for (const verdict v : kVerdicts)
    if (reply.at("verdict") == verdict_name(v)) throw failure(v, reason);
  throw failure(verdict::error, reason);
}

}  // namespace

std::vector<std::string> one_shot_command(const std::string& program, std::string_view command,
                                          const nlohmann::json& request) {
  return {program, std::string(command), request.dump()};
}

int answer_once(std::string_view request,
                const std::function<json(const nlohmann::json&)>& answer) {
  try {
    return print({{"answer", answer(nlohmann::json::parse(request))}}, EXIT_SUCCESS);
  } catch (const failure& f) {
    return print(to_json(f.verdict, f.what()), EXIT_FAILURE);
  } catch (const std::exception& e) {
    return print(to_json(verdict::error, e.what()), EXIT_FAILURE);
  }
}

void read_reply(const std::string& output, const std::string& how_ended,
                const std::function<void(const json&)>& read) {
  const auto mark = output.rfind(kReply);
  if (mark == std::string::npos)
    throw failure(verdict::crashed, "the process ended before the run was over: " + how_ended);
  const auto start = mark + kReply.size();
  try {
    const json reply = json::parse(output.substr(start, output.find('\n', start) - start));
    if (reply.contains("verdict")) rethrow(reply);
    read(reply.at("answer"));
  } catch (const failure&) {
    throw;
  } catch (const std::exception& e) {
    throw failure(verdict::error, fmt::format("no valid result in the process's output: {}",
                                              printable(e.what(), kLongestText)));
  }
}

}  // namespace kzoo::process
