#pragma once
// What became of the calls, for KZOO_BLAS_VERBOSE=1.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace kzoo::preload {

class report {
 public:
  void took(const std::string& kernel) { count(taken_, kernel); }
  void passed_on(const std::string& why) { count(passed_, why); }
  // "" where there were no calls.
  std::string text() const;

 private:
  using counts = std::map<std::string, std::uint64_t>;
  void count(counts& of, const std::string& what) {
    const std::lock_guard lock(mutex_);
    ++of[what];
  }

  mutable std::mutex mutex_;
  counts taken_, passed_;
};

}  // namespace kzoo::preload
