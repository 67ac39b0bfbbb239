#pragma once
// What a kzoo_handle points to.

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

// The name is that of the C API's opaque type.
struct kzoo_context {
 public:
  // Throws kzoo::error.
  explicit kzoo_context(const kzoo_options& options);
  kzoo_context(std::unique_ptr<kzoo::library::device> d,
               std::unique_ptr<kzoo::library::chooser> choice, std::size_t most_problems);
  ~kzoo_context();

  kzoo::library::outcome run(const kzoo::library::product& p);
  std::size_t streams() const { return streams_.size(); }

  // So many streams are remembered whatever they do. With more of them, calls mark where their work
  // ends, and those whose work has ended are forgotten: a program may make a stream for each task.
  static constexpr std::size_t kStreams = 16;

 private:
  using work_ptr = std::shared_ptr<kzoo::library::stream_work>;
  struct found {
    work_ptr work;
    bool is_one_of_many;
  };
  found find(void* stream);
  // beta C, where k is 0.
  kzoo::library::outcome run_without_product(kzoo::library::product p);
  void forget_streams();

  std::unique_ptr<kzoo::library::device> device_;
  std::unique_ptr<kzoo::library::chooser> choice_;
  std::size_t most_problems_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, work_ptr> streams_;
};
