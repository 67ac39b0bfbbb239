#pragma once
// SIGINT (Ctrl-C) and SIGTERM: the run stops at the next check() and keeps all finished results. A
// second signal ends the program at once.

namespace kzoo::interrupt {

// Thrown by check(). Not a std::exception, so that no handler of failures catches it.
class interrupted {};

// Records SIGINT and SIGTERM instead of ending the program; signals that were ignored stay ignored.
// Ignores SIGPIPE and SIGXFSZ: writing fails instead. Throws std::system_error.
void catch_signals();
// The last received signal; 0: none.
int signal_number();
// Stops the run as if a signal had come, without changing signal_number().
void request();
// Throws interrupted after a signal or request().
void check();
// For poll(): readable after a signal or request(); -1 (ignored) before catch_signals().
int fd();

}  // namespace kzoo::interrupt
