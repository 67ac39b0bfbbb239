// What a handle keeps for each stream: instances, workspaces, and when it lets go of them. With a
// device that is made up, because the cpu has no work that goes on after a call.

#include "context.hpp"
#include "support/catch.hpp"

#include <kzoo/error.hpp>

#include <cstring>
#include <map>
#include <set>

using namespace kzoo::library;

namespace {

// What happened, as the tests see it.
struct {
  int created = 0, destroyed = 0;
  std::vector<void*> workspaces;  // of each run
  std::set<void*> allocated;
  std::map<void*, std::uint64_t> stream_ids;  // by their address
  bool capturing = false;
  bool gpu_is_done = true;
  int recorded = 0;
} seen;

class fake_marker : public marker {
  void record(void*) override {
    CHECK_FALSE(seen.capturing);
    ++seen.recorded;
  }
  bool reached() override { return seen.gpu_is_done; }
};

class fake_device : public device {
 public:
  const kzoo_device& abi() const override { return abi_; }
  std::string name() const override { return "made up"; }
  int make_current() override { return 0; }
  void restore(int) override {}
  std::uint64_t stream_id(void* stream) override {
    return seen.stream_ids.try_emplace(stream, 1000 + seen.stream_ids.size()).first->second;
  }
  bool is_capturing(void*) override { return seen.capturing; }
  void outside_captures(const std::function<void()>& action) override { action(); }
  void* allocate(std::uint64_t bytes, void*) override {
    CHECK_FALSE(seen.capturing);
    return *seen.allocated.insert(new char[bytes]).first;
  }
  void fill_with_zeros(void* memory, std::uint64_t bytes, void*) override {
    std::memset(memory, 0, bytes);
  }
  void free(void* memory, void*) override { free_unused(memory); }
  void free_unused(void* memory) override {
    CHECK(seen.allocated.erase(memory) == 1);
    delete[] static_cast<char*>(memory);
  }
  std::unique_ptr<marker> make_marker() override { return std::make_unique<fake_marker>(); }
  void wait_until_idle() override { seen.gpu_is_done = true; }

 private:
  kzoo_device abi_{sizeof(kzoo_device), KZOO_CUDA, 0, 90, 132, 232448, 0, 0};
};

// A plugin whose workspace has as many bytes as the problem has rows.
constexpr kzoo_signature kFp32{KZOO_F32, KZOO_F32, KZOO_F32, KZOO_COMPUTE_FP32};
const kzoo_variant kVariant{
    sizeof(kzoo_variant),
    "counted",
    "",
    &kFp32,
    1,
    0,
    nullptr,
    [](const kzoo_variant*, const kzoo_problem* p, const kzoo_device*, kzoo_text*) {
      return p->k == 13 ? KZOO_UNSUPPORTED : KZOO_OK;
    },
    [](const kzoo_variant*, const kzoo_problem* p, const kzoo_device*) {
      return static_cast<std::uint64_t>(p->m);
    },
    [](const kzoo_variant*, const kzoo_problem*, const kzoo_device*, void**, kzoo_text*) {
      ++seen.created;
      return KZOO_OK;
    },
    [](const kzoo_variant*, void*, const kzoo_arguments* args, kzoo_text*) {
      seen.workspaces.push_back(args->workspace);
      return KZOO_OK;
    },
    [](const kzoo_variant*, void*) { ++seen.destroyed; },
    0,
    0,
    1,
    1,
    1,
    1};

// Counts how often it is asked.
class only_one : public chooser {
 public:
  only_one(plugin& of, int& asked) : of_(of), asked_(asked) {}
  kernel choose(const kzoo_problem& p, const kzoo_device& d) const override {
    ++asked_;
    const kernel k{&of_, &kVariant};
    if (!objection(k, p, d, {}).empty()) throw kzoo::error(KZOO_UNSUPPORTED, "not with 13");
    return k;
  }

 private:
  plugin& of_;
  int& asked_;
};

struct fixture {
  explicit fixture(std::size_t most_problems)
      : context(std::make_unique<fake_device>(), std::make_unique<only_one>(counted, asked),
                most_problems) {
    seen = {};
  }

  outcome run(std::int64_t m, void* stream = nullptr, std::int64_t k = 1) {
    product p{};
    p.problem.struct_size = sizeof(kzoo_problem);
    p.problem.m = m;
    p.problem.n = 1;
    p.problem.k = k;
    p.problem.type_a = p.problem.type_b = p.problem.type_c = KZOO_F32;
    p.stream = stream;
    return context.run(p);
  }

  plugin counted{"counted", nullptr, {}};
  int asked = 0;
  kzoo_context context;
};

void* stream_at(std::size_t number) { return reinterpret_cast<void*>(16 * (number + 1)); }

}  // namespace

TEST_CASE("a problem is prepared once for each stream, and refused once") {
  {
    fixture on(8);
    for (int i = 0; i < 3; ++i) CHECK(on.run(5).status == KZOO_OK);
    CHECK(seen.created == 1);
    CHECK(on.asked == 1);
    CHECK(on.run(5, stream_at(1)).status == KZOO_OK);
    CHECK(seen.created == 2);
    for (int i = 0; i < 3; ++i) {
      const outcome refused = on.run(5, nullptr, 13);
      CHECK(refused.status == KZOO_UNSUPPORTED);
      CHECK(refused.why == "not with 13");
    }
    CHECK(on.asked == 3);
    CHECK(seen.recorded == 0);  // few streams, and all problems kept: no event
  }
  CHECK(seen.destroyed == 2);
  CHECK(seen.allocated.empty());
}

TEST_CASE("an instance that is evicted lives until its stream has done its work") {
  fixture on(2);
  on.run(1), on.run(2), on.run(1);
  seen.gpu_is_done = false;
  on.run(3);  // of 1 and 2, 2 was used less recently
  CHECK(seen.destroyed == 0);
  on.run(1);
  CHECK(seen.created == 3);
  on.run(2);
  CHECK(seen.created == 4);
  CHECK(seen.destroyed == 0);
  seen.gpu_is_done = true;
  on.run(4);
  CHECK(seen.destroyed == 2);  // 2 and 3; 1 was evicted just now
}

TEST_CASE("what a graph has captured is kept") {
  fixture on(1);
  on.run(100);
  void* const captured = seen.workspaces.back();
  seen.capturing = true;
  on.run(100);
  CHECK(seen.workspaces.back() == captured);
  on.run(50);  // no larger a workspace; a second problem, without an event
  CHECK(seen.workspaces.back() == captured);
  CHECK_THROWS_WITH(on.run(101),
                    "counted:counted needs a workspace of 101 bytes, and the pool cannot "
                    "grow in a graph capture: make the call once on this stream before "
                    "the capture, or pass a workspace");
  seen.capturing = false;
  on.run(200);
  CHECK(seen.workspaces.back() != captured);
  CHECK(seen.allocated.count(captured) == 1);
  void* const larger = seen.workspaces.back();
  on.run(300);
  CHECK(seen.allocated.count(captured) == 1);
  CHECK(seen.allocated.count(larger) == 0);
  // 100 and 50 are in a graph; the others make room for each other.
  const int created = seen.created;
  on.run(100), on.run(50);
  CHECK(seen.created == created);
}

TEST_CASE("a capture evicts nothing, since no event in it tells when work has ended") {
  fixture on(1);
  on.run(10);
  seen.capturing = true;
  on.run(5);
  CHECK(seen.recorded == 0);
  seen.capturing = false;
  on.run(6);
  CHECK(seen.recorded == 1);
  on.run(7);
  CHECK(seen.destroyed == 1);  // 10; 5 is in the graph
}

TEST_CASE("streams that come and go leave nothing behind") {
  fixture on(4);
  constexpr std::size_t kMany = 10 * kzoo_context::kStreams;
  for (std::size_t i = 0; i < kMany; ++i) on.run(7, stream_at(i));
  CHECK(on.context.streams() <= kzoo_context::kStreams + 1);
  CHECK(seen.allocated.size() == on.context.streams());

  // Not while they work, and not if they are in a graph.
  seen.gpu_is_done = false;
  const std::size_t before = on.context.streams();
  for (std::size_t i = 0; i < 5; ++i) on.run(7, stream_at(kMany + i));
  CHECK(on.context.streams() == before + 5);
  seen.gpu_is_done = true;
  seen.capturing = true;
  for (std::size_t i = 0; i < 5; ++i) on.run(7, stream_at(kMany + i));
  seen.capturing = false;
  for (std::size_t i = 0; i < kMany; ++i) on.run(7, stream_at(2 * kMany + i));
  const int created = seen.created;
  for (std::size_t i = 0; i < 5; ++i) on.run(7, stream_at(kMany + i));
  CHECK(seen.created == created);
}

TEST_CASE("a stream at the address of one that was destroyed is another one") {
  fixture on(4);
  on.run(7);
  void* const first = seen.workspaces.back();
  seen.stream_ids[nullptr] = 5;
  on.run(7);
  CHECK(seen.created == 2);
  CHECK(seen.workspaces.back() != first);
}
