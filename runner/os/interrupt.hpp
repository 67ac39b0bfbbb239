#pragma once
// SIGINT (Ctrl-C) and SIGTERM: the run stops at the next check() and keeps all finished results. A
// second signal ends the program at once.

namespace kzoo::interrupt {

// Thrown by check(). Not a std::exception, so that no handler of failures catches it.
class interrupted {};

// From now on SIGINT and SIGTERM are recorded instead of ending the program; a signal that was
// ignored stays ignored. SIGPIPE and SIGXFSZ are ignored: writing fails instead. Throws
// std::system_error.
void catch_signals();
// The signal that was received last; 0: none.
int signal_number();
// Makes the run stop as if a signal had come; signal_number() remains what it is.
void request();
// Throws interrupted if a signal has been received, or after request().
void check();
// For poll(): readable from then on; -1 before catch_signals(), which poll() ignores.
int fd();

}  // namespace kzoo::interrupt
