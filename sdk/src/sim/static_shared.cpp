#include "static_shared.hpp"

#include <cstdint>
#include <cstring>

#include <link.h>

#include <kzoo/sim/device.hpp>

#include "faults.hpp"
#include "observer.hpp"

extern "C" const char __ehdr_start __attribute__((visibility("hidden")));  // this module's

namespace kzoo::sim {
namespace {

constexpr unsigned char kPoison = 0xff;

// Aligns thread-local variables, including __shared__ arrays, to all banks, as on a GPU.
[[gnu::used]] alignas(1024) thread_local unsigned char aligned;

void fill(const byte_range& bytes) {
  if (bytes.size == 0) return;
  std::memset(bytes.begin, kPoison, bytes.size);
  reset_thread_state();
}

}  // namespace

byte_range thread_locals() {
  byte_range found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        const auto own = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
        if (info->dlpi_addr != own) return 0;
        for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_TLS) continue;
          *static_cast<byte_range*>(result) = {static_cast<unsigned char*>(info->dlpi_tls_data),
                                               info->dlpi_phdr[i].p_memsz};
        }
        return 1;
      },
      &found);
  return found;
}

static_shared::static_shared() {
  current = nullptr;  // so that the variables exist
  all_ = thread_locals();
  if (watching == nullptr) fill(all_);  // an observer's variables are among them
}

void static_shared::poison(const void* kernel) {
  if (kernel != last_) fill(used_[last_]);  // only one kernel's bytes differ from poison
  last_ = kernel;
  if (const auto known = used_.find(kernel); known != used_.end()) fill(known->second);
}

void static_shared::exchange(std::vector<unsigned char>& save,
                             const std::vector<unsigned char>& load) {
  std::memcpy(save.data(), all_.begin, all_.size);
  std::memcpy(all_.begin, load.data(), all_.size);
  reset_thread_state();
}

void static_shared::note_use(const void* kernel) {
  if (used_.contains(kernel)) return;
  hide_thread_state(kPoison);
  const unsigned char *first = all_.begin, *last = all_.begin + all_.size;
  while (first != last && *first == kPoison) ++first;
  while (first != last && last[-1] == kPoison) --last;
  used_[kernel] = {all_.begin + (first - all_.begin), static_cast<std::size_t>(last - first)};
  reset_thread_state();
}

}  // namespace kzoo::sim
