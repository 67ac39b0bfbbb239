#include "devices/guarded_memory.hpp"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <optional>
#include <string_view>

namespace kzoo::devices {
namespace {

constexpr std::size_t kAlignment = 256, kPage = 4096;

constexpr std::size_t rounded_up(std::size_t x, std::size_t to) { return (x + to - 1) / to * to; }

// Changed only by the main thread, and by the signal handler on the faulting thread.
struct block {
  std::atomic<std::uintptr_t> begin{0};  // the first of its pages; 0: unused
  std::uintptr_t first = 0, past = 0;    // the accessible pages in between
  std::uintptr_t memory = 0;             // the requested bytes
  std::size_t end = 0, bytes = 0;
  const char* name = "";
  std::atomic<std::int64_t> written{-1};

  bool holds(std::uintptr_t at) const { return begin != 0 && at >= begin && at < end; }
};
// Further allocations are not guarded.
std::array<block, 256> blocks;

block* find(const void* memory) {
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const auto found =
      std::find_if(blocks.begin(), blocks.end(), [&](const block& b) { return b.holds(at); });
  return found == blocks.end() ? nullptr : &*found;
}

void protect(const block& b, int access) {
  mprotect(reinterpret_cast<void*>(b.first), b.past - b.first, access);
}

struct sigaction before;

// Only functions that a signal handler may call.
void print(std::initializer_list<std::string_view> words) {
  std::array<char, 256> text{};
  std::size_t length = 0;
  for (const std::string_view word : words)
    length += word.copy(text.data() + length, text.size() - length);
  if (write(STDERR_FILENO, text.data(), length) < 0) return;
}

// Begins a line; the simulator, if it ran the kernel, appends the kernel and its thread.
void tell(const block* b, std::uintptr_t at) {
  std::array<char, 24> digits{};
  const auto text_of = [&](std::size_t number, int base) {
    const char* end = std::to_chars(digits.begin(), digits.end(), number, base).ptr;
    return std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  };
  if (b == nullptr) return print({"\nan access to address 0x", text_of(at, 16)});
  const bool is_before = at < b->memory;
  const std::size_t distance = is_before ? b->memory - at : at - b->memory - b->bytes + 1;
  print({"\nan access to memory around ", b->name, ", ", text_of(distance, 10), " bytes ",
         is_before ? "before its redzone" : "past its redzone"});
}

// False for a jump into data, which would fault forever.
bool is_write([[maybe_unused]] const void* state) {
#if defined(__x86_64__)
  constexpr greg_t kWrite = 2;  // a bit of the page fault's error code
  return (static_cast<const ucontext_t*>(state)->uc_mcontext.gregs[REG_ERR] & kWrite) != 0;
#else
  return true;
#endif
}

void on_fault(int number, siginfo_t* fault, void* state) {
  const auto at = reinterpret_cast<std::uintptr_t>(fault->si_addr);
  const auto hit =
      std::find_if(blocks.begin(), blocks.end(), [&](const block& b) { return b.holds(at); });
  const bool is_inside = hit != blocks.end() && at >= hit->first && at < hit->past;
  if (is_inside && is_write(state)) {
    // Another thread may have come first.
    std::int64_t none = -1;
    hit->written.compare_exchange_strong(none, static_cast<std::int64_t>(at - hit->memory));
    protect(*hit, PROT_READ | PROT_WRITE);
    return;
  }
  // No address: such as a misaligned vector access, or a signal sent by someone.
  const bool has_address = fault->si_code > 0 && fault->si_code != SI_KERNEL;
  if (!is_inside && has_address) tell(hit == blocks.end() ? nullptr : &*hit, at);
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(number, fault, state);
  sigaction(number, &before, nullptr);  // the instruction faults again
}

// A plugin may have replaced the handler since, whether or not its own calls this handler.
void install_handler() {
  static bool done = false;
  if (done) return;
  done = true;
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &ours, &before);
}

// Maps all pages of a shared part, so that no kernel pays for the first touch of a page.
bool make_usable(void* first, std::size_t pages, const std::optional<file_part>& shared) {
  constexpr int kUse = PROT_READ | PROT_WRITE;
  if (!shared) return mprotect(first, pages, kUse) == 0;
  return mmap(first, pages, kUse, MAP_SHARED | MAP_FIXED | MAP_POPULATE, shared->fd,
              static_cast<off_t>(shared->offset)) != MAP_FAILED;
}

}  // namespace

std::size_t guarded_pages(std::size_t bytes) {
  return rounded_up(std::max<std::size_t>(bytes, 1), kPage);
}

std::size_t guarded_offset(std::size_t bytes) {
  return guarded_pages(bytes) - rounded_up(std::max<std::size_t>(bytes, 1), kAlignment);
}

void* allocate_guarded(std::size_t bytes, std::size_t around, const char* name,
                       const std::optional<file_part>& shared) {
  const std::size_t outside = rounded_up(std::max(around, kPage), kPage);
  const std::size_t pages = guarded_pages(bytes);
  const auto unused =
      std::find_if(blocks.begin(), blocks.end(), [](const block& b) { return b.begin == 0; });
  if (unused == blocks.end() || pages < bytes) return nullptr;
  void* all = mmap(nullptr, pages + 2 * outside, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  install_handler();
  const auto begin = reinterpret_cast<std::uintptr_t>(all);
  unused->first = begin + outside;
  unused->past = unused->first + pages;
  unused->end = unused->past + outside;
  unused->memory = unused->first + guarded_offset(bytes);
  unused->bytes = bytes;
  unused->name = name;
  unused->written = -1;
  if (!make_usable(reinterpret_cast<void*>(unused->first), pages, shared)) {
    munmap(all, pages + 2 * outside);
    return nullptr;
  }
  unused->begin = begin;
  return reinterpret_cast<void*>(unused->memory);
}

bool release_guarded(void* memory) {
  block* const b = find(memory);
  if (b == nullptr) return false;
  munmap(reinterpret_cast<void*>(b->begin.load()), b->end - b->begin);
  b->begin = 0;
  return true;
}

void set_read_only(const void* memory, bool read_only) {
  block* const b = find(memory);
  if (b == nullptr) return;
  protect(*b, read_only ? PROT_READ : PROT_READ | PROT_WRITE);
  // Reloads TLB entries that the change dropped, so that the kernel does not pay for them.
  for (std::uintptr_t at = b->first; read_only && at < b->past; at += kPage)
    static_cast<void>(*reinterpret_cast<const volatile char*>(at));
}

std::optional<std::int64_t> take_noted_write(const void* memory) {
  block* const b = find(memory);
  const std::int64_t at = b == nullptr ? -1 : b->written.exchange(-1);
  return at < 0 ? std::nullopt : std::optional(at);
}

}  // namespace kzoo::devices
