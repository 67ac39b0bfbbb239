// Stack switching: Boost.Context's raw jump, plus call-outs that tell AddressSanitizer the current
// stack.
//
// Uses the raw interface, not boost::context::fiber, since a failed block's fibers are abandoned
// without unwinding. Unwinding would call std::terminate in a kernel that waits at a barrier inside
// a noexcept function. Device code owns nothing that a destructor would free.
#pragma once

#include <cstddef>

#include <boost/context/detail/fcontext.hpp>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// Weak, since a kernel may be compiled with AddressSanitizer where the simulator is not.
extern "C" [[gnu::weak]] void __asan_unpoison_memory_region(const volatile void*, std::size_t);

namespace kzoo::sim {

namespace fcontext = boost::context::detail;

// A stack on which execution is or can be suspended.
struct context {
  fcontext::fcontext_t handle = nullptr;
  void* bottom = nullptr;  // lowest usable address
  std::size_t size = 0;
  context* target = nullptr;  // the context it last switched to
  void* shadow = nullptr;     // AddressSanitizer's

  // Continues with `to`; returns when another context switches back.
  void switch_to(context& to) {
    target = &to;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&shadow, to.bottom, to.size);
#endif
    arrived(fcontext::jump_fcontext(to.handle, this));
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(shadow, nullptr, nullptr);
#endif
  }

  // Call it first on a new stack: returns the context that was switched to.
  static context& started(fcontext::transfer_t transfer) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
    return *arrived(transfer)->target;
  }

  // Frames that are abandoned leave redzones, which AddressSanitizer would report later.
  void lose_contents() const {
    if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(bottom, size);
  }
  // Makes this a fresh stack, on which `entry` will run. Its previous contents are lost.
  void reset(std::size_t unused_at_top, void (*entry)(fcontext::transfer_t)) {
    lose_contents();
    const std::size_t used = size - unused_at_top;
    handle = fcontext::make_fcontext(static_cast<char*>(bottom) + used, used, entry);
    shadow = nullptr;
  }

 private:
  static context* arrived(fcontext::transfer_t transfer) {
    auto* from = static_cast<context*>(transfer.data);
    from->handle = transfer.fctx;
    return from;
  }
};

}  // namespace kzoo::sim
