// Default options of the sanitizers in a build with KZOO_SANITIZED. The environment variables
// ASAN_OPTIONS, TSAN_OPTIONS and UBSAN_OPTIONS override them.

extern "C" const char* __asan_default_options();
extern "C" const char* __tsan_default_options();
extern "C" const char* __ubsan_default_options();

// The runner itself reports crashes of plugins.
#define KZOO_CRASHES "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:"

// Leaks are found by tracing, which workers may not do. Kernels run on stacks of the simulator.
const char* __asan_default_options() {
  return KZOO_CRASHES
      "detect_leaks=0:detect_stack_use_after_return=0:abort_on_error=1:"
      "allocator_may_return_null=1";
}
const char* __tsan_default_options() {
  return KZOO_CRASHES "halt_on_error=1:abort_on_error=1:allocator_may_return_null=1";
}
const char* __ubsan_default_options() { return "print_stacktrace=1:abort_on_error=1"; }
