// A plugin for the next major ABI version. This version knows only its symbol's name.
#include <cstdint>

struct plugin_of_version_2 {
  std::uint64_t struct_size;
};

extern "C" __attribute__((visibility("default"))) const plugin_of_version_2 kzoo_plugin_v2;
const plugin_of_version_2 kzoo_plugin_v2 = {sizeof(plugin_of_version_2)};
