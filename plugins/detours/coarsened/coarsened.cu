// Thread coarsening: blocks of 32 x 32 threads as in smem, but each thread computes kOutputs
// elements of a row of C, 32 columns apart. The block's tile of C is 32 rows by 32 * kOutputs
// columns, and each value of A read from shared memory serves kOutputs FMAs.

#include <kzoo/plugin.hpp>

namespace {

constexpr int kTile = 32;

template <int kOutputs>
__global__ void __launch_bounds__(kTile* kTile) coarsened_kernel(kzoo::gemm<float> g) {
  constexpr int kColumns = kTile * kOutputs;
  float(*a_tile)[kTile] = kzoo::dynamic_shared<float[kTile]>();                     // (BM, BK)
  float(*b_tile)[kColumns] = reinterpret_cast<float(*)[kColumns]>(a_tile + kTile);  // (BK, BN)
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int col = blockIdx.x * kColumns + tx;

  float acc[kOutputs] = {};
  for (int k0 = 0; k0 < g.k; k0 += kTile) {
    a_tile[ty][tx] = g.a_or_zero(row, k0 + tx);
#pragma unroll
    for (int j = 0; j < kOutputs; ++j) {
      b_tile[ty][tx + j * kTile] = g.b_or_zero(k0 + ty, col + j * kTile);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) {
      const float a = a_tile[ty][k];
#pragma unroll
      for (int j = 0; j < kOutputs; ++j) acc[j] += a * b_tile[k][tx + j * kTile];
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < kOutputs; ++j) g.store_inside(row, col + j * kTile, acc[j]);
}

template <int kOutputs>
class coarsened {
  static constexpr std::size_t kSharedBytes = 4u * kTile * kTile * (1 + kOutputs);

 public:
  using grid = kzoo::tile_grid<kTile, kTile * kOutputs, kTile, kTile>;

  static const char* supports(const kzoo_problem&, const kzoo_device& d) {
    return d.kind == KZOO_CPU || kSharedBytes <= d.shared_bytes_per_block
               ? nullptr
               : "its tiles need more shared memory than a block may have on this device";
  }

  coarsened(const kzoo_problem&, const kzoo_device&) {
    kzoo::allow_dynamic_shared(coarsened_kernel<kOutputs>, kSharedBytes);
  }

  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    grid::launch(coarsened_kernel<kOutputs>, g, stream, kSharedBytes);
  }
};

}  // namespace

KZOO_PLUGIN("coarsened", "Square tiles in shared memory, several elements of a row of C per thread",
            kzoo::variant<coarsened<1>>("1", "one output per thread: smem, and the reference"),
            kzoo::variant<coarsened<2>>("2", "2 outputs per thread"),
            kzoo::variant<coarsened<4>>("4", "4 outputs per thread"),
            kzoo::variant<coarsened<8>>("8", "8 outputs per thread"),
            kzoo::variant<coarsened<16>>("16", "16 outputs per thread"),
            kzoo::variant<coarsened<32>>("32", "32 outputs per thread, 132 KB of shared memory"));
