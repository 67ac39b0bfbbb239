// What cuBLASLt's heuristic proposes for a problem: each of its candidates, and the fastest of
// them, which is the one to beat.

#include <kzoo/plugin.hpp>

#include <libraries/cublaslt/choice.hpp>
#include <libraries/cublaslt/cublaslt.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <map>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

using lt_types = kzoo::types<float, __half, __nv_bfloat16, double, kzoo::to<__half, float>,
                             kzoo::to<__nv_bfloat16, float>, kzoo::to<signed char, int>,
                             kzoo::to<__nv_fp8_e4m3, float>, kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>,
                             kzoo::mixed<__nv_fp8_e4m3, __nv_fp8_e5m2, __nv_bfloat16>,
                             kzoo::mixed<__nv_fp8_e5m2, __nv_fp8_e4m3, __nv_bfloat16>>;

using lt = common::lt_variant<lt_types>;

// The heuristic's candidate number kIndex, in its order.
template <std::size_t kIndex>
class heuristic : public lt {
 public:
  heuristic(const kzoo_problem& p, const kzoo_device& d) : lt(p, d) {
    if (kIndex >= product_.count())
      throw kzoo::error(KZOO_UNSUPPORTED,
                        "the heuristic has only " + std::to_string(product_.count()) +
                            (product_.count() == 1 ? " candidate" : " candidates") +
                            " for this problem");
    product_.choose(kIndex);
  }
};

// Matrices, operands, a stream, and what flushes the L2 before each run.
struct trial {
  explicit trial(const kzoo_problem& p)
      : a(filled(p.type_a, elements(p, kzoo::is_a_transposed(kzoo::layout_of(p)) ? p.k : p.m, p.lda,
                                    p.stride_a))),
        b(filled(p.type_b, elements(p, kzoo::is_b_transposed(kzoo::layout_of(p)) ? p.n : p.k, p.ldb,
                                    p.stride_b))),
        c(filled(p.type_c, elements(p, p.m, p.ldc, p.stride_c))),
        workspace(common::device_bytes(common::kLtWorkspace)) {
    for (const kzoo_operand& x : std::span(p.operands, p.operand_count)) {
      operands.push_back(filled(x.type, x.rows * x.ld));
      addresses.push_back(operands.back().get());
    }
    int device = 0, l2_bytes = 0;
    common::check(cudaGetDevice(&device), "cudaGetDevice");
    common::check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device), "L2 size");
    flush_bytes = 2 * static_cast<std::size_t>(l2_bytes);
    flush = common::device_bytes(flush_bytes);
    cudaStream_t made_stream = nullptr;
    common::check(cudaStreamCreateWithFlags(&made_stream, cudaStreamNonBlocking),
                  "cudaStreamCreate");
    stream.reset(made_stream);
    for (auto* event : {&start, &stop}) {
      cudaEvent_t made_event = nullptr;
      common::check(cudaEventCreate(&made_event), "cudaEventCreate");
      event->reset(made_event);
    }
    common::check(cudaDeviceSynchronize(), "filling the matrices");
  }

  double ms(const common::lt_product& product) const {
    const kzoo_arguments args{.struct_size = sizeof(kzoo_arguments),
                              .a = a.get(),
                              .b = b.get(),
                              .c = c.get(),
                              .workspace = workspace.get(),
                              .stream = stream.get(),
                              .launches = nullptr,
                              .operands = addresses.data()};
    common::check(cudaMemsetAsync(flush.get(), 0, flush_bytes, stream.get()), "flushing the L2");
    common::check(cudaEventRecord(start.get(), stream.get()), "cudaEventRecord");
    product.run(args);
    common::check(cudaEventRecord(stop.get(), stream.get()), "cudaEventRecord");
    common::check(cudaEventSynchronize(stop.get()), "a trial run");
    float ms = 0;
    common::check(cudaEventElapsedTime(&ms, start.get(), stop.get()), "cudaEventElapsedTime");
    return ms;
  }

  // Of one matrix of each product.
  static std::int64_t elements(const kzoo_problem& p, std::int64_t rows, std::int64_t ld,
                               std::int64_t stride) {
    return std::max<std::int64_t>(0, p.batch - 1) * stride + rows * ld;
  }

  // Numbers between -1 and 1, or all bytes: how fast a product is depends on its data.
  static std::vector<char> sample(kzoo_type type) {
    constexpr std::size_t kElements = 1 << 18;
    std::minstd_rand random;
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<char> bytes;
    const auto add = [&](auto number) {
      const auto* const first = reinterpret_cast<const char*>(&number);
      bytes.insert(bytes.end(), first, first + sizeof number);
    };
    for (std::size_t i = 0; i < kElements; ++i) {
      const float x = uniform(random);
      switch (type) {
        case KZOO_F64: add(static_cast<double>(x)); break;
        case KZOO_F16: add(__half(x)); break;
        case KZOO_BF16: add(__nv_bfloat16(x)); break;
        case KZOO_E4M3: add(__nv_fp8_e4m3(x)); break;
        case KZOO_E5M2: add(__nv_fp8_e5m2(x)); break;
        case KZOO_I8: add(static_cast<signed char>(127 * x)); break;
        default: add(x);
      }
    }
    return bytes;
  }

  static common::owned<void, cudaFree> filled(kzoo_type type, std::int64_t elements) {
    const std::vector<char> some = sample(type);
    const std::size_t all = static_cast<std::size_t>(elements * kzoo::type_bytes(type));
    auto memory = common::device_bytes(all);
    for (std::size_t at = 0; at < all; at += some.size()) {
      common::check(cudaMemcpy(static_cast<char*>(memory.get()) + at, some.data(),
                               std::min(some.size(), all - at), cudaMemcpyHostToDevice),
                    "cudaMemcpy");
    }
    return memory;
  }

  common::owned<void, cudaFree> a, b, c, workspace, flush;
  std::vector<common::owned<void, cudaFree>> operands;
  std::vector<const void*> addresses;  // of the operands
  std::size_t flush_bytes = 0;
  common::owned<CUstream_st, cudaStreamDestroy> stream;
  common::owned<CUevent_st, cudaEventDestroy> start, stop;
};

// The candidate that is fastest on matrices of its own.
std::size_t fastest_of(common::lt_product& product, const kzoo_problem& p) {
  constexpr std::size_t kLeastRounds = 3, kMostRounds = 50;
  constexpr double kEnoughMs = 500;
  constexpr double kTie = 0.97;  // within this the heuristic's order counts
  const trial on(p);
  std::vector<std::vector<double>> ms(product.count());
  double total = 0;
  for (std::size_t round = 0; round < kMostRounds; ++round) {
    if (round >= kLeastRounds && total > kEnoughMs) break;
    for (std::size_t i = 0; i < ms.size(); ++i) {
      product.choose(i);
      ms[i].push_back(on.ms(product));
      total += ms[i].back();
    }
  }
  const auto median = [](std::vector<double>& of) {
    const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
    std::nth_element(of.begin(), middle, of.end());
    return *middle;
  };
  std::size_t fastest = 0;
  double least = median(ms[0]);
  for (std::size_t i = 1; i < ms.size(); ++i) {
    const double mine = median(ms[i]);
    if (mine >= kTie * least) continue;
    least = mine;
    fastest = i;
  }
  return fastest;
}

// Runs all candidates when it is created for a large problem for the first time in a process, and
// keeps the fastest. Not each time: a GPU at its power limit is slower for a while after such a
// trial.
class best : public lt {
 public:
  // Another process may choose another, which rounds differently.
  static constexpr bool nondeterministic = true;

  best(const kzoo_problem& p, const kzoo_device& d) : lt(p, d) {
    if (!common::is_worth_measuring(p)) return;
    using bytes = std::array<std::byte, sizeof(kzoo_problem)>;
    static std::map<bytes, std::size_t> chosen;
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    const auto key = std::bit_cast<bytes>(common::without_scalars(p));
    auto choice = chosen.find(key);
    if (choice == chosen.end()) choice = chosen.emplace(key, fastest_of(product_, p)).first;
    product_.choose(choice->second);
  }
};

}  // namespace

KZOO_PLUGIN("cublaslt", "What NVIDIA cuBLASLt's heuristic proposes",
            kzoo::variant<heuristic<0>>("heuristic0", "its first candidate"),
            kzoo::variant<heuristic<1>>("heuristic1", "its second"),
            kzoo::variant<heuristic<2>>("heuristic2", "its third"),
            kzoo::variant<heuristic<3>>("heuristic3", "its fourth"),
            kzoo::variant<heuristic<4>>("heuristic4", "its fifth"),
            kzoo::variant<heuristic<5>>("heuristic5", "its sixth"),
            kzoo::variant<heuristic<6>>("heuristic6", "its seventh"),
            kzoo::variant<heuristic<7>>("heuristic7", "its eighth"),
            kzoo::variant<best>("best", "the fastest of them, measured when it is first created"));
