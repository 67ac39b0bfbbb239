// Host code that harms its process.
#include <kzoo/plugin.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

struct host_code {
  using types = kzoo::types<float>;
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {}
};

// Throws an exception, which must be reported as an error with its text.
struct throws : host_code {
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {
    throw std::runtime_error("no luck today");
  }
};

// Calls exit(), as some libraries do on errors.
struct exits : host_code {
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const { std::exit(7); }
};

// A failed assertion while the variant is created; it prints a message to stderr first.
struct aborts : host_code {
  aborts(const kzoo_problem&, const kzoo_device&) {
    std::fputs("giving up\n", stderr);
    std::abort();
  }
};

// Crashes when it is asked whether it supports a problem.
struct crashes_in_supports : host_code {
  static const char* supports(const kzoo_problem&, const kzoo_device&) { std::abort(); }
};

// Finds the worker's channel and sends a forged reply.
struct forges_reply : host_code {
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {
    constexpr int kControl = 3;
    const char* reply = "{\"samples_ms\": []}\n";
    if (write(kControl, reply, std::strlen(reply)) < 0) throw kzoo::error(KZOO_ERROR, "no channel");
  }
};

// Allocates until something stops it.
struct eats_memory : host_code {
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {
    constexpr std::size_t kGigabyte = std::size_t{1} << 30, kMost = 4096;
    std::vector<std::unique_ptr<std::byte[]>> kept;
    while (kept.size() < kMost) kept.emplace_back(new std::byte[kGigabyte]);
    throw kzoo::error(KZOO_ERROR, "4 TB could be allocated");
  }
};

}  // namespace

KZOO_PLUGIN("process", "Misbehaves as a host program can",
            kzoo::variant<throws>("throws", "an exception must not cross the ABI"),
            kzoo::variant<exits>("exits", "ends the process without a signal"),
            kzoo::variant<aborts>("aborts", "in create"),
            kzoo::variant<crashes_in_supports>("crashes_in_supports", "before create"),
            kzoo::variant<forges_reply>("forges_reply", "sends a reply in the worker's place"),
            kzoo::variant<eats_memory>("eats_memory", "must not exhaust the machine's memory"));
