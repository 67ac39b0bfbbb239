#pragma once
// Messages between two processes of this executable, as JSON.

#include "os/posix.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::process {

class channel {
 public:
  explicit channel(int fd) : fd_(fd) {}  // takes ownership of the descriptor

  int fd() const { return fd_.fd(); }
  // Returns false if the other end is closed.
  bool send(const nlohmann::json& message);
  // Reads what has arrived and returns the next complete message, if any. Sets `closed` if the
  // other end has closed. Throws nlohmann::json::exception for a line that is not JSON.
  std::optional<nlohmann::json> receive(bool& closed);
  // Whether receive() would return a message without reading from the socket.
  bool has_message() const { return pending_.find('\n') != std::string::npos; }

 private:
  descriptor fd_;
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

// Anonymous files shared by the supervisor and a child: its results, its matrices, its output.

// An anonymous file. The supervisor creates and sizes it; a worker inherits and maps it.
class shared_memory {
 public:
  shared_memory();                 // creates the file
  explicit shared_memory(int fd);  // takes ownership of an inherited descriptor
  ~shared_memory();
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;

  int fd() const { return fd_.fd(); }
  // Bytes that are mapped here.
  std::size_t size() const { return size_; }
  // Grows it to at least `bytes`. Throws std::system_error if memory runs out.
  void reserve(std::size_t bytes);
  // The first `bytes`; maps again if the other side has grown the file.
  std::span<std::byte> view(std::size_t bytes);

 private:
  descriptor fd_;
  std::byte* mapped_ = nullptr;
  std::size_t size_ = 0;
};

// Matrices of a kernel on the CPU, in an anonymous file shared by the supervisor and one worker,
// which inherits its descriptor. Sealed against shrinking, which would break mappings.
class shared_pages {
 public:
  struct part {
    std::size_t offset = 0, bytes = 0;  // in the file
    std::byte* here = nullptr;          // mapping in this process
  };

  shared_pages();

  int fd() const { return fd_.fd(); }
  // Size of all parts together.
  std::size_t bytes() const { return bytes_; }
  // A part filled with zeros. `bytes`: whole pages. Throws std::system_error if memory runs out.
  part take(std::size_t bytes);
  // Frees the part's memory. Other processes may still have it mapped.
  void give_back(const part& p);

 private:
  descriptor fd_;
  std::size_t end_ = 0, bytes_ = 0;
  std::multimap<std::size_t, std::size_t> free_;  // offsets, by size
};

// An anonymous file for a worker's stdout and stderr: plugin output neither disturbs the report nor
// leaves a file behind.
class output_log {
 public:
  output_log();

  int fd() const { return fd_.fd(); }
  // Everything printed so far. Beyond `most` bytes, the beginning and the end, with a line between
  // them that says how much is left out.
  std::string text(std::size_t most) const;
  // The last line printed since the previous call.
  std::string last_line();

 private:
  long size() const;
  std::string read(long offset, long bytes) const;

  descriptor fd_;
  long reported_ = 0;  // bytes
};

// `; it printed: "…"` with the last line of an output. Empty if it has no line.
std::string last_line_of(std::string output);

}  // namespace kzoo::process
