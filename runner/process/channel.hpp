#pragma once
// Messages over a socket: one JSON object per line.

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

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

}  // namespace kzoo::process
