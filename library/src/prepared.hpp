#pragma once
// Problems that are ready to run: the chosen kernel of each, and its instance.

#include "choice.hpp"
#include "device.hpp"

#include <kzoo/abi.h>
#include <kzoo/caller.hpp>

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace kzoo::library {

// A kernel and its instance for a problem, or why there is none, to avoid repeated searches.
class prepared {
 public:
  // Throws kzoo::error if the kernel cannot be created.
  prepared(const kernel& chosen, const kzoo_problem& p, const kzoo_device& d);
  prepared(kzoo_status status, std::string why) : status_(status), why_(std::move(why)) {}
  ~prepared();
  prepared(const prepared&) = delete;
  prepared& operator=(const prepared&) = delete;

  // KZOO_OK if there is a kernel.
  kzoo_status status() const { return status_; }
  const std::string& why() const { return why_; }
  const kernel& chosen() const { return chosen_; }
  std::uint64_t workspace_bytes() const { return workspace_bytes_; }

  // Throws kzoo::error.
  void run(const kzoo_arguments& arguments) const;

  bool in_graph = false;  // a CUDA graph may run it at any time

 private:
  kzoo_status status_ = KZOO_OK;
  std::string why_;
  kernel chosen_;
  void* instance_ = nullptr;
  std::uint64_t workspace_bytes_ = 0;
};

// The last used problems. An instance serves a problem with its scalars and ld's, on one stream.
class prepared_problems {
 public:
  explicit prepared_problems(std::size_t most) : most_(most) {}

  prepared* find(const kzoo_problem& p);
  prepared& add(const kzoo_problem& p, std::unique_ptr<prepared> made);
  // Removes surplus instances outside graphs. The caller destroys them after the enqueued work.
  std::vector<std::unique_ptr<prepared>> take_surplus();

 private:
  using key = plain_problem;
  struct hash {
    std::size_t operator()(const key& words) const;
  };
  struct entry {
    key problem;
    std::unique_ptr<prepared> made;
  };

  std::size_t most_;
  std::list<entry> by_use_;  // the latest first
  std::unordered_map<key, std::list<entry>::iterator, hash> by_problem_;
};

}  // namespace kzoo::library
