#pragma once
// Messages over a socket: one JSON object a line.

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace kzoo::process {

class channel {
 public:
  explicit channel(int fd) : fd_(fd) {}  // takes the descriptor over
  ~channel();
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  int fd() const { return fd_; }
  // False when nobody is at the other end.
  bool send(const nlohmann::json& message);
  // Reads what is there and gives the next whole message, if there is one. `closed` is set when
  // the other end is gone. Throws nlohmann::json::exception for what is no JSON.
  std::optional<nlohmann::json> receive(bool& closed);
  // receive() will give one without reading.
  bool has_message() const { return pending_.find('\n') != std::string::npos; }

 private:
  int fd_;
  std::string pending_;
};

}  // namespace kzoo::process
