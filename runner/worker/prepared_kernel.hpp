#pragma once
// A variant prepared for a problem: its matrices on the device, and its instance.

#include "core/operands.hpp"
#include "core/problem.hpp"
#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "process/messages.hpp"
#include "worker/messages.hpp"
#include "worker/plugin.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::worker {

using devices::device_memory;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t step) {
  return (bytes + step - 1) / step * step;
}

// Memory that must not be written.
inline data::matrix poison_spec(std::size_t bytes) {
  constexpr std::uint64_t kKey = 5;
  const auto cols = static_cast<std::int64_t>(bytes / sizeof(float)) - 2 * data::kRedzone;
  return {KZOO_F32, data::content::poison, 1, cols, cols, kKey};
}

// The first of the changed elements; -1 if there is none.
inline std::int64_t first_change(const data::changes& found) {
  if (found.first_inside < 0 || found.first_outside < 0)
    return std::max(found.first_inside, found.first_outside);
  return std::min(found.first_inside, found.first_outside);
}

// A matrix between redzones, in the layout of data/matrix.hpp, and between zones of at least 128
// rows. Accesses to the zones fault, or the zones hold poison.
class device_matrix {
 public:
  // In memory of its own. A fault around it is reported with `name`.
  device_matrix(devices::backend& on, const data::matrix& x, const char* name)
      : device_matrix(on, x,
                      std::make_unique<device_memory>(
                          on, bytes_needed(on, x), devices::surroundings{zone_bytes(x), name})) {}
  // In bytes_needed() bytes of memory that the caller keeps, at a multiple of kMatrixAlignment.
  device_matrix(devices::backend& on, const data::matrix& x, void* memory)
      : backend_(on), spec_(x), zone_(zone_on(on, x)), memory_(static_cast<char*>(memory) + zone_) {
    refill(x);
    for (const devices::filled_buffer& z : zones()) backend_.fill(z.words, z.spec);
  }
  // With its zones.
  static std::size_t bytes_needed(const devices::backend& on, const data::matrix& x) {
    return padded_bytes(x) + 2 * zone_on(on, x);
  }

  const data::matrix& spec() const { return spec_; }
  std::size_t bytes() const { return bytes_of(spec_); }
  const void* words() const { return memory_; }
  devices::filled_buffer contents() const { return {memory_, spec_}; }
  // Element (0, 0), behind the leading redzone.
  void* first() const { return memory_ + offset_of_first(); }
  std::size_t offset_of_first() const { return data::kRedzone * type_size(spec_.type); }

  void refill() { backend_.fill(memory_, spec_); }
  // New contents of the same size.
  void refill(const data::matrix& x) {
    plan(x);
    refill();
  }
  // Sets the intended contents; the caller writes them.
  void plan(const data::matrix& x) { spec_ = x; }
  // Inverts the signs of row `next` (-1: none), and restores the previous row.
  void set_late_row(std::int64_t next = -1) {
    const std::int64_t before = std::exchange(spec_.late_row, next);
    for (const std::int64_t row : {before, next})
      if (row >= 0) backend_.fill_row(memory_, spec_, row);
  }
  // The whole buffer, redzones included.
  void copy_from_host(const void* host) { backend_.copy_to_device(memory_, host, bytes()); }
  // Tells a sanitizer, if active, whether the redzones may be accessed.
  void mark_redzones(bool out_of_bounds) { backend_.mark_redzones(memory_, spec_, out_of_bounds); }

  // The zones before and after it, if they hold poison.
  std::vector<devices::filled_buffer> zones() const {
    if (zone_ == 0) return {};
    return {{memory_ - zone_, poison_spec(zone_)},
            {memory_ + padded_bytes(spec_), poison_spec(zone_)}};
  }
  // Adds changes in its zones to its own, as changes outside.
  data::changes with_zones(data::changes own, std::span<const data::changes> in_zones) const {
    const std::vector<devices::filled_buffer> each = zones();
    for (std::size_t i = 0; i < each.size(); ++i) {
      const data::changes& found = in_zones[i];
      if (!found.any()) continue;
      const auto at = static_cast<const char*>(each[i].words) - memory_ +
                      std::ptrdiff_t{sizeof(float)} * first_change(found);
      const auto size = static_cast<std::ptrdiff_t>(type_size(spec_.type));
      const std::int64_t index = (at < 0 ? at - size + 1 : at) / size;
      if (own.outside == 0 || index < own.first_outside) own.first_outside = index;
      own.outside += found.inside + found.outside;
    }
    return own;
  }

  // Size of one zone. Large matrices still begin at a page of the device.
  static std::size_t zone_bytes(const data::matrix& x) {
    constexpr std::size_t kRows = 128, kLeast = 64 << 10, kMost = 64 << 20, kPage = 2 << 20;
    const std::size_t rows = kRows * static_cast<std::size_t>(x.ld) * type_size(x.type);
    const std::size_t step = rows < kPage ? kLeast : kPage;
    return std::clamp(rounded_up(rows, step), kLeast, kMost);
  }

 private:
  device_matrix(devices::backend& on, const data::matrix& x, std::unique_ptr<device_memory> own)
      : device_matrix(on, x, own->get()) {
    own_ = std::move(own);
  }
  static std::size_t bytes_of(const data::matrix& x) {
    return static_cast<std::size_t>(data::word_count(x)) * type_size(x.type);
  }
  static std::size_t padded_bytes(const data::matrix& x) {
    return rounded_up(bytes_of(x), kMatrixAlignment);
  }
  static std::size_t zone_on(const devices::backend& on, const data::matrix& x) {
    return on.faults_around() ? 0 : zone_bytes(x);
  }

  devices::backend& backend_;
  data::matrix spec_;
  std::size_t zone_;                    // bytes on either side that hold poison
  char* memory_;                        // the matrix, behind its leading zone
  std::unique_ptr<device_memory> own_;  // null: the caller's
};

// Throws refusal when the plugin fails, devices::failure when the device does.
class prepared_kernel {
 public:
  // A process's memory of all its runs.
  struct history {
    std::set<std::uint32_t> loaded;    // variants that have run: CUDA loads kernels lazily
    std::vector<std::uint64_t> seeds;  // seeds of the first and the latest runs
  };

  // Uses the instance in the plugin's slot.
  prepared_kernel(plugin& plugin, int slot, devices::backend& backend,
                  const results::device& device, process::shared_memory& output, history& process)
      : plugin_(plugin),
        slot_(slot),
        backend_(backend),
        device_(device),
        output_(output),
        process_(process) {}
  ~prepared_kernel();
  prepared_kernel(const prepared_kernel&) = delete;
  prepared_kernel& operator=(const prepared_kernel&) = delete;

  // Creates the instance, judged by `declared`. Reuses matrices of the same problem, and a
  // workspace of the same size, unless a kernel spoiled them.
  void prepare(std::uint32_t variant, const problem& p, kzoo_precision declared);
  // Changes data for the next run: contents to `p`'s, which may differ in seed and fill
  // only, and the addresses of matrices in `move` ("abcow"; o: all other operands, w: the
  // workspace). Poisons the old memory and keeps it until the next refill() or destroy().
  void refill(const problem& p, const std::string& move);
  run_report run(const run_request& request);
  sample_report sample(const sample_request& request);
  sustain_report sustain(const sustain_request& request);
  // Allocates, copies to the device, runs and copies back, like a program with its matrices on the
  // host. Puts the copied result into C.
  end_to_end_report end_to_end();
  // Runs `warmup` times, then once within a profiler's range.
  void profile(int warmup);
  // Copies C to shared memory: these rows, or all if empty.
  void copy_result(const std::vector<std::int64_t>& rows);
  // Destroys the instance and checks for errors, so that they count against this variant.
  void destroy();

 private:
  // The matrices of the last prepared problem.
  struct matrices {
    kzoo::problem problem;
    std::unique_ptr<device_memory> together;             // holds all of them, if it may
    std::vector<std::unique_ptr<device_matrix>> inputs;  // see inputs_of()
    std::unique_ptr<device_matrix> c;
    std::vector<devices::filled_buffer> poison;  // in the gaps between them
  };

  void destroy_instance();
  // Passes the matrices' addresses to the instance.
  void place();
  void allocate(const problem& p);
  // Puts the matrices into one allocation, with poisoned gaps of random size around them.
  std::vector<std::unique_ptr<device_matrix>> place_together(std::span<const data::matrix> all);
  std::unique_ptr<device_matrix> make_workspace();
  void mark_redzones(bool out_of_bounds);
  // Makes every run, judged or timed. Before it, C and the workspace hold their initial contents,
  // and A, B and C0 this seed's numbers.
  devices::finished_run run_once(devices::start from, devices::other_streams others,
                                 const std::function<std::uint64_t()>& seed);
  // `seed()`: of the next fill.
  devices::run_steps steps_of_run(const std::function<std::uint64_t()>& seed);
  // A seed that no run has had. If possible, groups get other rows than in the previous run: with
  // few divisions, a kernel that keeps offsets could be right by chance.
  std::uint64_t fresh_seed() const;
  std::function<std::uint64_t()> fresh() const {
    return [this] { return fresh_seed(); };
  }
  // The operands, C and workspace with another seed's numbers. The caller writes them.
  std::vector<devices::filled_buffer> numbers_of(std::uint64_t seed);
  void fill(std::uint64_t seed);
  // Inverts one row of each input, except offsets and scales, and restores the previous one.
  void fill_between();
  // The expected C for the inputs' current contents.
  reference::product_check expected() const;
  judged_report report_on(const reference::product_findings& found) const;
  void call_plugin();
  // The inputs and the workspace, then the zones around all matrices, then the gaps between them.
  std::vector<devices::filled_buffer> watched() const;
  // From what the backend finds in watched(), in its order.
  changes changes_from(std::span<const data::changes> each);
  // The element that was written and restored; -1: none.
  std::int64_t restored(const device_matrix& x, const data::changes& found);
  // Copies the requested part to shared memory.
  output_report copy_result(const data::reading& c, const output_request& output);

  plugin& plugin_;
  const int slot_;
  devices::backend& backend_;
  const results::device& device_;
  process::shared_memory& output_;
  history& process_;
  matrices matrices_;
  bool spoiled_ = false;  // a kernel wrote to inputs, or around its outputs
  std::vector<std::unique_ptr<device_matrix>> moved_from_;
  std::uint64_t workspace_bytes_ = 0;
  std::unique_ptr<device_matrix> workspace_;
  std::optional<std::uint32_t> variant_;  // the instance's variant
  kzoo_precision declared_{};
  problem filled_;                       // the problem, with the seed of the matrices' contents
  std::vector<std::int64_t> late_rows_;  // by input, from fill_between(); -1: none
};

}  // namespace kzoo::worker
