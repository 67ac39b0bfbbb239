// Makes a handle for the plugins in a folder and destroys it. Built with AddressSanitizer, which
// says at the end what memory nothing refers to.

#include <kzoo/kzoo.h>

#include <cstdio>

int main(int argc, char** argv) {
  kzoo_options options{};
  options.struct_size = sizeof options;
  options.device = KZOO_CPU;
  options.plugins = argc > 1 ? argv[1] : nullptr;
  options.kernels = "serial";
  kzoo_handle handle = nullptr;
  std::puts(kzoo_status_name(kzoo_create(&handle, &options)));
  kzoo_destroy(handle);
}
