// Of a build with KZOO_SANITIZED, in each program: what ASAN_OPTIONS and UBSAN_OPTIONS do not say.

extern "C" const char* __asan_default_options();
extern "C" const char* __ubsan_default_options();

// Crashes of plugins are the runner's to report. Leaks are looked for by tracing, which workers may
// not do, and kernels run on stacks of the simulator.
const char* __asan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:"
         "detect_leaks=0:detect_stack_use_after_return=0:abort_on_error=1:"
         "allocator_may_return_null=1";
}
const char* __ubsan_default_options() { return "print_stacktrace=1:abort_on_error=1"; }
