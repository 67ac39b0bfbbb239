// A library that is not a plugin: the KZOO_PLUGIN line was forgotten.
extern "C" __attribute__((visibility("default"))) int multiply(int a, int b) { return a * b; }
