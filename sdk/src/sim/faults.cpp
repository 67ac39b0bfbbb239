#include "faults.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>

#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <kzoo/launch_limits.hpp>

#include "block.hpp"

namespace kzoo::sim {
namespace {

constexpr std::size_t kHandlerStackBytes = std::size_t{64} * 1024;

struct sigaction previous;
thread_local bool asked = false;
// Held by the thread whose fault is being handled; forever if the fault ends the process.
std::atomic_flag handling;

void on_fault(int number, siginfo_t* fault, void* context);

void set_handler() {
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &ours, nullptr);
}

[[noreturn]] void end_launch(thread* t, const void* text) {
  t->owner->fail(*t, static_cast<const char*>(text));
}

// Names the thread of the fatal access, after the runner's handler has printed its address. The
// runner replaces the instruction by its source line.
[[noreturn]] void end_process(thread* t, const void* instruction) {
  current = nullptr;  // a later fault is not the kernel's
  // May hang if the kernel has corrupted the heap.
  constexpr unsigned kMostSeconds = 5;
  std::signal(SIGALRM, SIG_DFL);
  alarm(kMostSeconds);
  Dl_info its{}, own{};
  dladdr(instruction, &its);
  dladdr(reinterpret_cast<const void*>(&install_fault_handler), &own);
  std::ostringstream text;
  const block_runner::copying& now = t->owner->copies_now();
  text << ", by " << t->owner->where_text() << ", thread "
       << detail::shape_text((now.by != nullptr ? now.by : t)->thread_idx);
  if (now.by != nullptr) {
    text << ", in a copy begun at " << sm90::place_text(now.where);
  } else if (its.dli_fbase == own.dli_fbase) {
    text << ", instruction 0x" << std::hex
         << static_cast<const char*>(instruction) - static_cast<const char*>(own.dli_fbase)
         << " of its library";
  }
  std::cerr << text.str() << '\n' << std::flush;
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
  std::abort();
}

// After the handler, runs `next` from the top of the thread's stack, whose contents are lost.
void continue_with(void (*next)(thread*, const void*), thread& t, const void* argument,
                   ucontext_t& state) {
  fiber& on = *t.on;
  on.lose_contents();
  constexpr std::uintptr_t kAlignment = 64;
  const auto top = reinterpret_cast<std::uintptr_t>(on.bottom) + on.size - kAlignment;
  auto* registers = state.uc_mcontext.gregs;
  // The state after a call: the return address, here none, lowers the aligned pointer by 8.
  registers[REG_RSP] = static_cast<greg_t>(top - top % kAlignment - sizeof(void*));
  registers[REG_RIP] = reinterpret_cast<greg_t>(next);
  registers[REG_RDI] = reinterpret_cast<greg_t>(&t);
  registers[REG_RSI] = reinterpret_cast<greg_t>(argument);
}

void continue_with_error(thread& t, const char* text, ucontext_t& state) {
  continue_with(&end_launch, t, text, state);
}

// Returns false for a fault that the simulator does not know.
bool handle(thread& t, const siginfo_t& fault, ucontext_t& state) {
  // A general protection fault has no address. In compiled device code it comes from a misaligned
  // move of 16 bytes or more.
  if (fault.si_code == SI_KERNEL) {
    continue_with_error(t,
                        "misaligned address: a vector access, such as one of a float4, needs a "
                        "multiple of its size (or the address is outside all memory)",
                        state);
    return true;
  }
  const auto at = reinterpret_cast<std::uintptr_t>(fault.si_addr);
  const auto bottom = reinterpret_cast<std::uintptr_t>(t.on->bottom);
  if (at >= bottom && at < bottom + t.on->size) {
    if (!stack_pool::use_all(t.on->bottom)) {
      continue_with_error(t, "there is no memory for its local variables", state);
    }
    return true;
  }
  if (at >= bottom || at < bottom - stack_pool::kGuardBytes) return false;
  continue_with_error(t,
                      "its local variables overflow the stack: a thread has 512 KiB of local "
                      "memory",
                      state);
  return true;
}

// Calls the previous handler. Returns false if there is none, or if it lets the process end.
bool is_handled_before(int number, siginfo_t* fault, void* context) {
  // Two plugins in one process may have each other's handler as the previous one.
  if ((previous.sa_flags & SA_SIGINFO) == 0 || asked) {
    if (asked) previous.sa_handler = SIG_DFL;
    sigaction(number, &previous, nullptr);  // the instruction faults again
  } else {
    asked = true;
    previous.sa_sigaction(number, fault, context);
    asked = false;
  }
  struct sigaction now {};
  sigaction(number, nullptr, &now);
  return now.sa_handler != SIG_DFL;
}

void on_fault(int number, siginfo_t* fault, void* context) {
  auto& state = *static_cast<ucontext_t*>(context);
  auto* const t = static_cast<thread*>(const_cast<thread_view*>(current));
  if (t == nullptr || asked) {
    is_handled_before(number, fault, context);
    return;
  }
  if (handle(*t, *fault, state)) return;
  while (handling.test_and_set()) sched_yield();
  if (is_handled_before(number, fault, context)) return handling.clear();
  set_handler();  // other faulting threads wait until this thread has reported its fault
  const auto* const instruction =
      reinterpret_cast<const void*>(state.uc_mcontext.gregs[REG_RIP]);  // NOLINT: of a register
  continue_with(&end_process, *t, instruction, state);
}

}  // namespace

void install_fault_handler() {
  struct sigaction now {};
  sigaction(SIGSEGV, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_fault) return;
  previous = now;
  set_handler();
}

void reset_thread_state() {
  current = nullptr;
  asked = false;
}

void hide_thread_state(unsigned char with) {
  std::memset(static_cast<void*>(&current), with, sizeof current);  // NOLINT: the pointer itself
  std::memset(static_cast<void*>(&asked), with, sizeof asked);
}

fault_stack::fault_stack() {
  stack_t now{};
  if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  void* memory =
      mmap(nullptr, kHandlerStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  const stack_t own{.ss_sp = memory, .ss_flags = 0, .ss_size = kHandlerStackBytes};
  if (sigaltstack(&own, nullptr) == 0) {
    stack_ = memory;
  } else {
    munmap(memory, kHandlerStackBytes);
  }
}

fault_stack::~fault_stack() {
  if (stack_ == nullptr || current != nullptr) return;  // current: a kernel called exit()
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  sigaltstack(&none, nullptr);
  munmap(stack_, kHandlerStackBytes);
}

}  // namespace kzoo::sim
