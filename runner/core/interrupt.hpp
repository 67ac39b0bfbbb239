#pragma once
// Ctrl-C and `kill`: the run ends at the next place where it can, with what is finished in order. A
// second signal ends the program at once.

namespace kzoo::interrupt {

// Thrown by check(). No std::exception: what handles failures must not take it for one.
class interrupted {};

// From now on SIGINT and SIGTERM are noted instead of ending the program; one that is ignored stays
// so.
void catch_signals();
// The signal that came; 0 if none did.
int signal_number();
// Throws interrupted when one came.
void check();
// For poll(): readable once a signal has come; -1 before catch_signals(), which poll() ignores.
int fd();

}  // namespace kzoo::interrupt
