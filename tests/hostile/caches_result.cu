// Results kept from earlier calls: by shape, by that and the addresses of A and B, and by instance.
#include "hostile.hpp"

#include <cstring>
#include <map>
#include <tuple>
#include <vector>

namespace {

__global__ void caches_result_kernel(hostile::gemm g) { hostile::store_product(g); }

using elements = std::vector<float>;

void copy(float* to, const float* from, std::size_t count, [[maybe_unused]] kzoo::stream_t stream) {
#if KZOO_TARGET_DEVICE == KZOO_CUDA
  cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDefault, stream);
  cudaStreamSynchronize(stream);
#else
  std::memcpy(to, from, count * sizeof(float));
#endif
}

// Computes where the key is new, and writes what it kept where it is not.
template <class Key>
void cached(std::map<Key, elements>& results, const Key& key, const hostile::gemm& g,
            kzoo::stream_t stream) {
  const auto [found, is_new] = results.try_emplace(key);
  const std::size_t row = static_cast<std::size_t>(g.n);
  if (is_new) {
    hostile::launch(caches_result_kernel, g, stream);
    found->second.resize(static_cast<std::size_t>(g.m) * row);
  }
  for (int i = 0; i < g.m; ++i) {
    float* const c = g.c + i * g.ldc;
    float* const kept = found->second.data() + static_cast<std::size_t>(i) * row;
    is_new ? copy(kept, c, row, stream) : copy(c, kept, row, stream);
  }
}

struct by_shape {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    static std::map<std::tuple<int, int, int>, elements> results;
    cached(results, {g.m, g.n, g.k}, g, stream);
  }
};

struct by_pointer {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const {
    static std::map<std::tuple<const float*, const float*, int, int, int>, elements> results;
    cached(results, {g.a, g.b, g.m, g.n, g.k}, g, stream);
  }
};

// Of this instance alone, whatever its arguments.
struct by_instance {
  using types = kzoo::types<float>;
  void run(const hostile::gemm& g, kzoo::stream_t stream) const { cached(results, 0, g, stream); }
  mutable std::map<int, elements> results;
};

}  // namespace

KZOO_PLUGIN("caches_result", "Computes once and copies from then on",
            kzoo::variant<by_shape>("by_shape", "for each shape"),
            kzoo::variant<by_pointer>("by_pointer", "for each pair of addresses"),
            kzoo::variant<by_instance>("by_instance", "for each instance"));
