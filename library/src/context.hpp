#pragma once
// The target of a kzoo_handle.

#include "choice.hpp"
#include "device.hpp"
#include "plugins.hpp"
#include "stream_work.hpp"

#include <kzoo/kzoo.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

struct kzoo_context {
 public:
  // Throws kzoo::error.
  explicit kzoo_context(const kzoo_options& options);
  kzoo_context(std::unique_ptr<kzoo::library::device> d,
               std::unique_ptr<kzoo::library::chooser> choice, std::size_t most_problems);
  ~kzoo_context();

  kzoo::library::outcome run(const kzoo::library::product& p);
  std::size_t streams() const { return streams_.size(); }

  // More streams than this are remembered only while they work: a program may create a stream for
  // each task. From half as many on, calls mark the end of their work.
  static constexpr std::size_t kStreams = 16;

 private:
  using work_ptr = std::shared_ptr<kzoo::library::stream_work>;
  struct found {
    work_ptr work;
    bool is_one_of_many;
  };
  found find(void* stream);
  // Computes beta C for k = 0.
  kzoo::library::outcome run_without_product(kzoo::library::product p);
  void forget_streams();

  std::unique_ptr<kzoo::library::device> device_;
  std::unique_ptr<kzoo::library::chooser> choice_;
  std::size_t most_problems_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, work_ptr> streams_;
};
