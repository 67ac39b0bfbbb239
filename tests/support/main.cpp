// main() of a test program. Catch2 3.x brings its own (Catch2::Catch2WithMain).
#if !__has_include(<catch2/catch_test_macros.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
