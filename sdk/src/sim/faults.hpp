// Memory faults of simulated threads.
#pragma once

namespace kzoo::sim {

// Call it before each launch, since a program may replace the handler at any time; not from two
// threads at once. A thread that reaches the unused part of its stack gets it. A stack overflow or
// misaligned address ends the launch with an error that names the kernel. Other faults go to the
// previous handler.
void install_fault_handler();

// The simulator's own thread-local variables: resets them as on a thread without a block;
// overwrites them with a byte, so that they look like other memory.
void reset_thread_state();
void hide_thread_state(unsigned char with);

// The handler's stack, one on each OS thread that runs simulated threads.
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
