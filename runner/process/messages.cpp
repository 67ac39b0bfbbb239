#include "process/messages.hpp"

#include "core/verdict.hpp"
#include "os/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace kzoo::process {
namespace {

// Far more than the report of 10000 samples needs; our code sends no longer message.
constexpr std::size_t kLongestMessage = std::size_t{16} << 20;

using json = nlohmann::ordered_json;

// Begins a new line, since the plugin's output may not end with a line break.
int print(const json& reply, int code) {
  fmt::print("\n{}{}\n", kReply, reply.dump(-1, ' ', false, json::error_handler_t::replace));
  std::fflush(stdout);
  return code;
}

void rethrow(const json& reply) {
  const auto known = from_name<verdict>(reply.at("verdict").get<std::string>());
  throw failure(known.value_or(verdict::error),
                printable(reply.at("reason").get<std::string>(), kLongestText));
}

// Nobody can add seals to a file that has none.
descriptor anonymous_file(const char* name, unsigned seals) {
  descriptor made(memfd_create(name, MFD_CLOEXEC | (seals != 0 ? MFD_ALLOW_SEALING : 0U)));
  if (made.fd() < 0) throw_errno("memfd_create");
  if (seals != 0 && fcntl(made.fd(), F_ADD_SEALS, seals) != 0) throw_errno("sealing a file");
  return made;
}

}  // namespace

bool channel::send(const nlohmann::json& message) {
  // A plugin's text may hold invalid UTF-8: such bytes are replaced, not rejected.
  const std::string line =
      message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t n = ::send(fd_.fd(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
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
      n = ::recv(fd_.fd(), bytes.data(), bytes.size(), 0);
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

std::vector<std::string> one_shot_command(const std::string& program, std::string_view command,
                                          const nlohmann::json& request) {
  return {program, std::string(command), request.dump()};
}

int answer_once(std::string_view request,
                const std::function<json(const nlohmann::json&)>& answer) {
  const auto print_failure = [](verdict v, const char* reason) {
    return print({{"verdict", name_of(v)}, {"reason", reason}}, EXIT_FAILURE);
  };
  try {
    return print({{"answer", answer(nlohmann::json::parse(request))}}, EXIT_SUCCESS);
  } catch (const failure& f) {
    return print_failure(f.verdict, f.what());
  } catch (const std::exception& e) {
    return print_failure(verdict::error, e.what());
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

// A plugin that finds the descriptor must not truncate memory mapped by the supervisor.
// F_SEAL_SEAL: no process can add F_SEAL_GROW, which would prevent growing the file.
shared_memory::shared_memory() : fd_(anonymous_file("kzoo-output", F_SEAL_SHRINK | F_SEAL_SEAL)) {}

shared_memory::shared_memory(int fd) : fd_(fd) {}

shared_memory::~shared_memory() {
  if (mapped_ != nullptr) munmap(mapped_, size_);
}

void shared_memory::reserve(std::size_t bytes) {
  if (bytes <= size_) return;
  reserve_bytes(fd_.fd(), 0, bytes, "shared memory for a result");
  view(bytes);
}

std::span<std::byte> shared_memory::view(std::size_t bytes) {
  if (bytes > size_) {
    if (mapped_ != nullptr) munmap(mapped_, size_);
    mapped_ = nullptr;
    size_ = 0;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.fd(), 0);
    if (memory == MAP_FAILED) throw_errno("mapping shared memory");
    mapped_ = static_cast<std::byte*>(memory);
    size_ = bytes;
  }
  return {mapped_, bytes};
}

shared_pages::shared_pages() : fd_(anonymous_file("kzoo-matrices", F_SEAL_SHRINK | F_SEAL_SEAL)) {}

shared_pages::part shared_pages::take(std::size_t bytes) {
  const auto unused = free_.find(bytes);
  part p{unused == free_.end() ? end_ : unused->second, bytes, nullptr};
  reserve_bytes(fd_.fd(), p.offset, bytes, "memory for matrices");
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.fd(),
                      static_cast<off_t>(p.offset));
  if (memory == MAP_FAILED) throw_errno("mapping matrices");
  p.here = static_cast<std::byte*>(memory);
  if (unused == free_.end())
    end_ += bytes;
  else
    free_.erase(unused);
  bytes_ += bytes;
  return p;
}

void shared_pages::give_back(const part& p) {
  munmap(p.here, p.bytes);
  fallocate(fd_.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(p.offset),
            static_cast<off_t>(p.bytes));
  free_.emplace(p.bytes, p.offset);
  bytes_ -= p.bytes;
}

output_log::output_log() : fd_(anonymous_file("kzoo-log", 0)) {
  // O_APPEND: stdout, stderr and the next worker do not overwrite each other.
  fcntl(fd_.fd(), F_SETFL, O_APPEND);
}

long output_log::size() const {
  struct stat status {};
  return fstat(fd_.fd(), &status) == 0 ? status.st_size : 0;
}

std::string output_log::read(long offset, long bytes) const {
  std::string text(static_cast<std::size_t>(std::max(0L, bytes)), '\0');
  const ssize_t got = pread(fd_.fd(), text.data(), text.size(), offset);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

std::string output_log::text(std::size_t most) const {
  const long all = size(), kept = static_cast<long>(most);
  if (all <= kept) return read(0, all);
  return fmt::format("{}\n[{} bytes are left out]\n{}", read(0, kept / 2), all - kept,
                     read(all - kept / 2, kept / 2));
}

std::string output_log::last_line() {
  const long now = size();
  if (now <= reported_) return "";
  constexpr long kTail = 400;
  const long from = std::max(reported_, now - kTail);
  reported_ = now;
  return last_line_of(read(from, now - from));
}

std::string last_line_of(std::string tail) {
  while (!tail.empty() && (tail.back() == '\n' || tail.back() == '\r')) tail.pop_back();
  if (const auto line = tail.rfind('\n'); line != std::string::npos) tail.erase(0, line + 1);
  return tail.empty() ? "" : fmt::format("; it printed: \"{}\"", printable(tail, kLongestText));
}

}  // namespace kzoo::process
