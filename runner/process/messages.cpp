#include "process/messages.hpp"
#include "core/verdict.hpp"
#include "os/printable.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace kzoo::process {
namespace {

// Far more than the report of 10000 samples needs; our code sends no longer message.
constexpr std::size_t kLongestMessage = std::size_t{16} << 20;

}  // namespace

channel::~channel() { close(fd_); }

bool channel::send(const nlohmann::json& message) {
  // A plugin's text may hold invalid UTF-8: such bytes are replaced, not rejected.
  const std::string line =
      message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t n = ::send(fd_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<nlohmann::json> channel::receive(bool& closed) {
  closed = false;
  if (!has_message()) {
    std::array<char, 65536> bytes;
    ssize_t n = 0;
    do {
      n = ::recv(fd_, bytes.data(), bytes.size(), 0);
    } while (n < 0 && errno == EINTR);
    closed = n <= 0;
    if (n > 0) pending_.append(bytes.data(), static_cast<std::size_t>(n));
    if (pending_.size() > kLongestMessage) closed = true;
  }
  const auto end = pending_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  auto message = nlohmann::json::parse(pending_.substr(0, end));
  pending_.erase(0, end + 1);
  return message;
}

namespace {

using json = nlohmann::ordered_json;

json to_json(verdict v, const char* reason) {
  return {{"verdict", name_of(v)}, {"reason", reason}};
}

// Begins a new line, since the plugin's output may not end with a line break.
int print(const json& reply, int code) {
  fmt::print("\n{}{}\n", kReply, reply.dump(-1, ' ', false, json::error_handler_t::replace));
  std::fflush(stdout);
  return code;
}

void rethrow(const json& reply) {
  const std::string reason = printable(reply.at("reason").get<std::string>(), kLongestText);
  for (const verdict v : kAllOf<verdict>)
    if (reply.at("verdict") == name_of(v)) throw failure(v, reason);
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
