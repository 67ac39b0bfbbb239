// Memory faults of simulated threads.
#pragma once

namespace kzoo::sim {

// Before each launch, since a program may set another handler at any time. From now on a thread
// that reaches the unused part of its stack gets it; one that overflows its stack, or uses a
// misaligned address, ends the launch with an error that names the kernel. All other faults are
// left to the handler before. Not for two threads at once.
void install_fault_handler();

// The simulator's own thread-local variables: as on a thread that runs no block, and overwritten
// with a byte so that they do not stand out among other memory.
void reset_thread_state();
void hide_thread_state(unsigned char with);

// The stack that the handler runs on; one on each OS thread that runs simulated ones.
class fault_stack {
 public:
  fault_stack();
  fault_stack(const fault_stack&) = delete;
  fault_stack& operator=(const fault_stack&) = delete;
  ~fault_stack();

 private:
  void* stack_ = nullptr;  // null if the OS thread has one already
};

}  // namespace kzoo::sim
