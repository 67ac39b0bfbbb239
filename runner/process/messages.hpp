#pragma once
// Messages between two processes of this executable, as JSON.

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::process {

class channel {
 public:
  explicit channel(int fd) : fd_(fd) {}  // takes ownership of the descriptor
  ~channel();
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  int fd() const { return fd_; }
  // Returns false if the other end is closed.
  bool send(const nlohmann::json& message);
  // Reads what has arrived and returns the next complete message, if any. Sets `closed` if the
  // other end has closed. Throws nlohmann::json::exception for a line that is not JSON.
  std::optional<nlohmann::json> receive(bool& closed);
  // Whether receive() would return a message without reading from the socket.
  bool has_message() const { return pending_.find('\n') != std::string::npos; }

 private:
  int fd_;
  std::string pending_;
};

// A one-shot child: this executable, started with a hidden first argument and a request. It prints
// its reply as one line of JSON, after all plugin output, and ends.

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
