// Finds the worker's channel and answers in its place.
#include <kzoo/plugin.hpp>

#include <unistd.h>

#include <cstring>

namespace {

struct forges_reply {
  using types = kzoo::types<float>;
  void run(const kzoo::gemm<float>&, kzoo::stream_t) const {
    constexpr int kControl = 3;
    const char* reply = "{\"samples_ms\": []}\n";
    if (write(kControl, reply, std::strlen(reply)) < 0) throw kzoo::error(KZOO_ERROR, "no channel");
  }
};

}  // namespace

KZOO_PLUGIN("forges_reply", "Speaks for the worker",
            kzoo::variant<forges_reply>("only", "must cost nobody else anything"));
