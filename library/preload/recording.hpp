#pragma once
// The products that a program asks for, as an experiment: KZOO_BLAS_RECORD.

#include "asked_product.hpp"

#include <sys/types.h>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

namespace kzoo::preload {

class recording {
 public:
  // In the file's name %p is the number of the process.
  explicit recording(const std::string& file);

  void add(const asked_product& asked);
  // The file, if there were calls. An error is said on stderr.
  void write() const;

 private:
  struct kind {
    std::uint64_t calls = 0, not_packed = 0;
    double flops = 0;  // of all calls
  };

  std::string text() const;
  void begin_again_after_fork();

  std::string file_;
  std::filesystem::path folder_;  // that a relative name begins in
  mutable std::mutex writing_;    // the file
  mutable std::mutex mutex_;
  std::atomic<pid_t> process_;
  std::map<std::string, kind> kinds_;  // by the problem's table
  std::map<std::string, std::uint64_t> others_;
  std::chrono::steady_clock::time_point written_;
};

}  // namespace kzoo::preload
