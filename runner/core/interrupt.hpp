#pragma once
// SIGINT (Ctrl-C) and SIGTERM: the run stops at the next check() and keeps all finished results. A
// second signal ends the program at once.

namespace kzoo::interrupt {

// Thrown by check(). Not a std::exception, so that no handler of failures catches it.
class interrupted {};

// From now on SIGINT and SIGTERM are recorded instead of ending the program; a signal that was
// ignored stays ignored. Throws std::system_error.
void catch_signals();
// The signal that was received last; 0: none.
int signal_number();
// Throws interrupted if a signal has been received.
void check();
// For poll(): readable once a signal has been received; -1 before catch_signals(), which poll()
// ignores.
int fd();

}  // namespace kzoo::interrupt
