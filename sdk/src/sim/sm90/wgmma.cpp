// wgmma. Threads of a warpgroup reach an instruction one after the other; it is issued when the
// first has reached it, reads its operands when the last has, and computes when they wait for it.
#include <kzoo/sim/sm90/wgmma.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

#include <kzoo/numeric.hpp>

#include "../block.hpp"

namespace kzoo::sim::sm90 {
namespace {

constexpr unsigned kThreads = 128;
constexpr int kRows = 64;

int bytes_of(operand_type type) {
  switch (type) {
    case operand_type::f16:
    case operand_type::bf16: return 2;
    case operand_type::tf32: return 4;
    case operand_type::e4m3:
    case operand_type::e5m2: break;
  }
  return 1;
}

int steps_of(const wgmma_call& call) { return 32 / bytes_of(call.a); }  // along K

// A matrix descriptor.
struct descriptor {
  unsigned start, leading, stride, width;

  static descriptor of(std::uint64_t bits) {
    constexpr unsigned kWidths[] = {0, 128, 64, 32};
    const auto field = [&](int from) {
      return static_cast<unsigned>(bits >> from & 0x3fff) * kGranule;
    };
    return {field(0), field(16), field(32), kWidths[bits >> 62]};
  }

  // Calls visit(line, chunk, address) for each 16 bytes of an operand with `mn` rows of A or
  // columns of B. K-major: a line is a row or a column, with two chunks along K. MN-major: a line
  // is one of 16 steps along K. Source: PTX ISA, "Strides" of wgmma's shared memory layout.
  template <class Visit>
  void for_each_chunk(int mn, bool mn_major, const Visit& visit) const {
    const unsigned pitch = width == 0 ? kGranule : width;
    const bool swapped = mn_major && width == 0;  // the two distances have each other's meaning
    const unsigned next_lines = swapped ? leading : stride;
    const unsigned next_panel = swapped ? stride : leading;
    const unsigned lines = mn_major ? 16 : static_cast<unsigned>(mn);
    const unsigned chunks = mn_major ? static_cast<unsigned>(mn) / 8 : 2;
    for (unsigned line = 0; line < lines; ++line) {
      const unsigned row = start + line / 8 * next_lines + line % 8 * pitch;
      for (unsigned chunk = 0; chunk < chunks; ++chunk) {
        const bool panels = mn_major || width == 0;
        const unsigned along = chunk * kGranule;
        const unsigned plain = row + (panels ? along / pitch * next_panel + along % pitch : along);
        visit(static_cast<int>(line), static_cast<int>(chunk), swizzled(plain, width));
      }
    }
  }
};

float value_of(operand_type type, const unsigned char* from) {
  std::uint16_t half = 0;
  std::uint32_t word = 0;
  switch (type) {
    case operand_type::f16: std::memcpy(&half, from, sizeof half); return fp16_bits_to_float(half);
    case operand_type::bf16: std::memcpy(&half, from, sizeof half); return bf16_bits_to_float(half);
    case operand_type::tf32:
      std::memcpy(&word, from, sizeof word);
      return truncate_to_tf32(std::bit_cast<float>(word));
    case operand_type::e4m3: return e4m3_bits_to_float(*from);
    case operand_type::e5m2: break;
  }
  return e5m2_bits_to_float(*from);
}

void decode(operand_type type, const unsigned char* from, int bytes, float* to, int step) {
  const int each = bytes_of(type);
  for (int i = 0; i < bytes / each; ++i) to[i * step] = value_of(type, from + i * each);
}

typedef float four __attribute__((vector_size(16), aligned(4)));

// sums (64 x n) += a (64 x k) b (k x n), sequentially along K.
void multiply(float* sums, const float* a, const float* b, int n, int k) {
  constexpr int kAtOnce = 4;
  for (int row = 0; row < kRows; ++row) {
    for (int col = 0; col < n; col += 4 * kAtOnce) {
      auto* to = reinterpret_cast<four*>(sums + row * n + col);
      four s[kAtOnce] = {to[0], to[1], to[2], to[3]};
      for (int i = 0; i < k; ++i) {
        const float x = a[row * k + i];
        const auto* y = reinterpret_cast<const four*>(b + i * n + col);
        for (int j = 0; j < kAtOnce; ++j) s[j] += x * y[j];
      }
      for (int j = 0; j < kAtOnce; ++j) to[j] = s[j];
    }
  }
}

// The place of a thread's accumulator `i` in 64 x n.
std::size_t place_of(unsigned thread, int i, int n) {
  const auto t = static_cast<int>(thread);
  const int row = t / 32 * 16 + t % 32 / 4 + i % 4 / 2 * 8;
  return static_cast<std::size_t>(row * n + i / 4 * 8 + t % 4 * 2 + i % 2);
}

constexpr std::uint32_t kPoison = 0xffffffffu;

warpgroup_state& warpgroup_of(thread& t, const here& where) {
  const std::size_t number = t.linear / kThreads;
  if (number >= t.in->sm90.warpgroups.size()) {
    t.owner->fail_with(t, [&] {
      return "wgmma (" + place_text(where) + ") needs all 128 threads of a warpgroup";
    });
  }
  return t.in->sm90.warpgroups[number];
}

bool same_call(const wgmma_call& a, const wgmma_call& b) {
  return a.n == b.n && a.a == b.a && a.b == b.b && a.accumulate == b.accumulate &&
         a.a_bits == b.a_bits && a.b_bits == b.b_bits;
}

// The thread's next instruction, which others may have reached before.
warpgroup_step& step_of(thread& t, warpgroup_state& w, const warpgroup_step& mine) {
  const std::uint64_t index = t.sm90.instructions++ - w.first;
  if (index == w.steps.size()) w.steps.push_back(mine);
  warpgroup_step& step = w.steps[index];
  ++step.arrived;
  if (step.kind != mine.kind || step.pending != mine.pending ||
      !same_place(step.where, mine.where) || !same_call(step.call, mine.call)) {
    t.owner->fail_with(t, [&] {
      const bool same = same_place(step.where, mine.where);
      return "threads of a warpgroup are at different wgmma instructions (" +
             place_text(step.where) +
             (same ? ", with different operands" : " and " + place_text(mine.where)) + ")";
    });
  }
  return step;
}

std::array<unsigned, 4> words_at(const unsigned* fragment) {
  std::array<unsigned, 4> words{};
  std::memcpy(words.data(), fragment, sizeof words);
  return words;
}

// The accumulators of an MMA that the first thread has reached.
void find_accumulators(thread& t, warpgroup_state& w, warpgroup_step& step) {
  const unsigned in_group = t.linear % kThreads;
  for (const auto& sums : w.in_flight) {
    if (sums->owners[in_group] == step.call.sums) step.sums = sums;
  }
  if (step.sums != nullptr) return;
  if (!w.fenced) {
    t.owner->fail_with(t, [&] {
      return "wgmma (" + place_text(step.where) +
             "): its accumulators may have been accessed since the last wgmma_fence()";
    });
  }
  const auto elements = static_cast<std::size_t>(kRows * step.call.n);
  step.sums = std::make_shared<accumulators>(
      accumulators{step.call.n, std::vector<float>(elements), {}, step.where});
  w.in_flight.push_back(step.sums);
}

// Ends the launch if a fragment of A has changed since the last wgmma_fence() or MMA.
void check_fragment(thread& t, const unsigned* at, const here& where) {
  std::vector<seen_fragment>& all = t.sm90.fragments;
  const auto seen =
      std::find_if(all.begin(), all.end(), [&](const seen_fragment& f) { return f.at == at; });
  if (seen == all.end()) {
    all.push_back({at, words_at(at)});
  } else if (seen->words != words_at(at)) {
    t.owner->fail_with(t, [&] {
      return "wgmma (" + place_text(where) +
             "): its fragment of A has been written since the last wgmma_fence()";
    });
  }
}

// Takes the thread's accumulators and fragment of A.
void take_registers(thread& t, warpgroup_step& step, const wgmma_call& call) {
  const unsigned in_group = t.linear % kThreads;
  accumulators& sums = *step.sums;
  if (sums.owners[in_group] == nullptr) {
    sums.owners[in_group] = call.sums;
    for (int i = 0; i < call.n / 2; ++i) {
      sums.values[place_of(in_group, i, sums.n)] = call.sums[i];
      std::memcpy(call.sums + i, &kPoison, sizeof kPoison);
    }
  } else if (sums.owners[in_group] != call.sums) {
    t.owner->fail_with(t, [&] {
      return "wgmma (" + place_text(step.where) + "): threads use different accumulators";
    });
  }
  if (call.fragment == nullptr) return;
  check_fragment(t, call.fragment, step.where);
  step.fragments.resize(kThreads);
  step.fragment_words.resize(4 * kThreads);
  step.fragments[in_group] = call.fragment;
  std::memcpy(&step.fragment_words[4 * in_group], call.fragment, 16);
}

// Checks that an operand in shared memory may be read, and notes that it will be. Returns its hash.
std::uint64_t begin_reading(thread& t, std::uint64_t bits, int mn, bool mn_major,
                            const here& where) {
  cta& in = *t.in;
  const std::size_t bytes = in.sm90.dynamic_granules * kGranule;
  std::uint64_t hash = 1;
  descriptor::of(bits).for_each_chunk(mn, mn_major, [&](int, int, unsigned address) {
    if (address + kGranule > bytes) {
      t.owner->fail_with(t, [&] {
        return "wgmma (" + place_text(where) + ") reads " + address_text(address) +
               ", past its end";
      });
    }
    check_settled(t, in, address, false, "wgmma", where);
    see(in, address);
    granule& g = in.sm90.granule_at(address);
    ++g.reads;
    g.read = where;
    hash = hash_of(hash, in.dynamic_shared + address);
  });
  return hash;
}

// All threads have reached an MMA.
void issue(thread& t, warpgroup_step& step) {
  const wgmma_call& call = step.call;
  if (call.fragment == nullptr)
    step.hash = begin_reading(t, call.a_bits, kRows, call.a_mn_major, step.where);
  step.hash ^= 3 * begin_reading(t, call.b_bits, call.n, call.b_mn_major, step.where);
}

// Wavefronts of an operand in shared memory: eight rows of 16 bytes are one, if in different banks.
unsigned wavefronts_of(std::uint64_t bits, int mn, bool mn_major) {
  constexpr unsigned kRows8 = 8, kBankGroups = 8;
  std::array<std::array<unsigned char, kBankGroups>, 64> counts{};  // by chunk of eight lines
  unsigned sum = 0;
  descriptor::of(bits).for_each_chunk(mn, mn_major, [&](int line, int chunk, unsigned address) {
    auto& banks = counts[static_cast<std::size_t>(chunk)];
    if (line % kRows8 == 0) banks = {};
    const unsigned most = *std::max_element(banks.begin(), banks.end());
    sum += ++banks[address / kGranule % kBankGroups] > most ? 1u : 0u;
  });
  return sum;
}

// A warp's share of the operands.
async_traffic traffic_of(const wgmma_call& call) {
  constexpr unsigned kWarps = 4, kBytesAlongK = 32;
  async_traffic sum;
  const auto add = [&](std::uint64_t bits, int mn, bool mn_major) {
    sum.bytes += static_cast<unsigned>(mn) * kBytesAlongK / kWarps;
    sum.passes += wavefronts_of(bits, mn, mn_major) / kWarps;
  };
  if (call.fragment == nullptr) add(call.a_bits, kRows, call.a_mn_major);
  add(call.b_bits, call.n, call.b_mn_major);
  return sum;
}

// Computes MMAs of a warpgroup.
class executor {
 public:
  executor(block_runner& runner, cta& in) : runner_(runner), in_(in) {}

  void execute(warpgroup_step& step) {
    const wgmma_call& call = step.call;
    const int k = steps_of(call), n = call.n;
    std::vector<float>&a = runner_.sm90().a, &b = runner_.sm90().b;
    a.resize(static_cast<std::size_t>(kRows * k));
    b.resize(static_cast<std::size_t>(n * k));
    std::uint64_t hash = 0;
    if (call.fragment == nullptr) {
      hash = read(call.a_bits, kRows, call.a_mn_major, call.a, a.data(), k, 1);
    } else if (!read_fragments(step, a.data(), k)) {
      return runner_.set_failure("registers that wgmma (" + place_text(step.where) +
                                 ") reads were overwritten before wgmma_wait()");
    }
    hash ^= 3 * read(call.b_bits, n, call.b_mn_major, call.b, b.data(), 1, n);
    if (hash != step.hash) {
      return runner_.set_failure("shared memory that wgmma (" + place_text(step.where) +
                                 ") reads was overwritten before wgmma_wait()");
    }
    auto& sums = step.sums->values;
    if (!call.accumulate) std::fill(sums.begin(), sums.end(), 0.0f);
    multiply(sums.data(), a.data(), b.data(), n, k);
  }

 private:
  // Element (mn, k) goes to to[mn * mn_step + k * k_step]. Returns the hash of what was read.
  std::uint64_t read(std::uint64_t bits, int mn, bool mn_major, operand_type type, float* to,
                     int mn_step, int k_step) {
    std::uint64_t hash = 1;
    const int each = 16 / bytes_of(type);
    descriptor::of(bits).for_each_chunk(mn, mn_major, [&](int line, int chunk, unsigned address) {
      const unsigned char* from = in_.dynamic_shared + address;
      hash = hash_of(hash, from);
      --in_.sm90.granule_at(address).reads;
      const int line_step = mn_major ? k_step : mn_step, step = mn_major ? mn_step : k_step;
      decode(type, from, 16, to + line * line_step + chunk * each * step, step);
    });
    return hash;
  }

  // Returns false if a thread has overwritten its registers.
  bool read_fragments(const warpgroup_step& step, float* to, int k) {
    for (unsigned t = 0; t < kThreads; ++t) {
      const unsigned* words = step.fragments[t];
      if (std::memcmp(words, &step.fragment_words[std::size_t{4} * t], 16) != 0) return false;
      const auto row = static_cast<int>(t / 32 * 16 + t % 32 / 4);
      for (int j = 0; j < 4; ++j) {
        const int first = (4 * static_cast<int>(t % 4) + 16 * (j / 2)) / bytes_of(step.call.a);
        decode(step.call.a, reinterpret_cast<const unsigned char*>(words + j), 4,
               to + (row + 8 * (j % 2)) * k + first, 1);
      }
    }
    return true;
  }

  block_runner& runner_;
  cta& in_;
};

// Gives accumulators back to their threads if no MMA adds to them any more.
void hand_back(block_runner& runner, warpgroup_state& w) {
  std::erase_if(w.in_flight, [&](const std::shared_ptr<accumulators>& sums) {
    for (const warpgroup_step& step : w.steps) {
      if (step.sums == sums) return false;
    }
    for (unsigned t = 0; t < kThreads; ++t) {
      for (int i = 0; i < sums->n / 2; ++i) {
        float& to = sums->owners[t][i];
        if (std::bit_cast<std::uint32_t>(to) != kPoison) {
          runner.set_failure("accumulators of wgmma (" + place_text(sums->where) +
                             ") were written before wgmma_wait()");
          return true;
        }
        to = sums->values[place_of(t, i, sums->n)];
      }
    }
    w.fenced = false;
    return true;
  });
}

// All threads have reached a wait, the last of the steps: computes all groups but the youngest.
void complete_wait(thread& t, warpgroup_state& w) {
  unsigned pending = w.steps.back().pending;
  w.steps.pop_back();
  ++w.first;
  std::size_t done = w.steps.size();  // steps of the groups that are waited for
  while (done > 0 && (w.steps[done - 1].kind != instruction::commit || pending-- != 0)) --done;
  executor execute(*t.owner, *t.in);
  for (std::size_t i = 0; i < done; ++i) {
    if (w.steps[i].kind == instruction::mma) execute.execute(w.steps[i]);
  }
  w.steps.erase(w.steps.begin(), w.steps.begin() + static_cast<std::ptrdiff_t>(done));
  w.first += done;
  hand_back(*t.owner, w);
}

warpgroup_step& reach(instruction kind, unsigned pending, const wgmma_call& call,
                      const here& where) {
  thread& t = running();
  warpgroup_state& w = warpgroup_of(t, where);
  warpgroup_step mine{kind, pending, call, where};
  return step_of(t, w, mine);
}

}  // namespace

void wgmma(const wgmma_call& call, here where) {
  thread& t = running();
  warpgroup_state& w = warpgroup_of(t, where);
  warpgroup_step& step = reach(instruction::mma, 0, call, where);
  if (watching != nullptr) {
    watching->start_async(async_access::wgmma,
                          t.linear % 32 == 0 ? traffic_of(call) : async_traffic{},
                          __builtin_return_address(0));
  }
  if (step.arrived == 1) find_accumulators(t, w, step);
  take_registers(t, step, call);
  if (step.arrived == kThreads) issue(t, step);
}

void wgmma_fence(here where) {
  if (reach(instruction::fence, 0, {}, where).arrived == 1)
    warpgroup_of(running(), where).fenced = true;
  for (seen_fragment& f : running().sm90.fragments) f.words = words_at(f.at);
}

void wgmma_commit(here where) { reach(instruction::commit, 0, {}, where); }

void wgmma_wait(unsigned pending, here where) {
  thread& t = running();
  warpgroup_state& w = warpgroup_of(t, where);
  if (reach(instruction::wait, pending, {}, where).arrived < kThreads) {
    w.waiting.push_back(&t);
    t.waits = wait_kind::warpgroup;
    t.where = where;
    t.owner->suspend(t);
    return;
  }
  [&]() noexcept { complete_wait(t, w); }();
  t.owner->give_up_if_failed(t);
  for (thread* other : w.waiting) t.owner->make_ready(*other);
  w.waiting.clear();
}

std::string mma_problem_at_end(const cta& in) {
  for (const warpgroup_state& w : in.sm90.warpgroups) {
    for (const warpgroup_step& step : w.steps) {
      if (step.kind == instruction::mma) {
        return "a block has ended before wgmma (" + place_text(step.where) +
               ") was committed and waited for";
      }
    }
  }
  return {};
}

}  // namespace kzoo::sim::sm90
