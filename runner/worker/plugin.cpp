#include "worker/plugin.hpp"

#include "core/kernel_name.hpp"
#include "core/operands.hpp"
#include "input/diagnostics.hpp"
#include "os/posix.hpp"
#include "os/text.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();  // GCC lacks the header
#endif

namespace kzoo::worker {
namespace {

// The buffer into which a plugin writes its reason.
struct reason_buffer {
  reason_buffer() : text{characters.data(), characters.size()} {}
  std::string str(const char* instead) const {
    // A plugin may have filled it without a terminating 0.
    const std::string words(characters.data(), strnlen(characters.data(), characters.size()));
    return words.empty() ? instead : words;
  }
  std::array<char, 2048> characters{};
  kzoo_text text;
};

// Adds the limit to the bare "std::bad_alloc" that a plugin passes on.
std::string explained(std::string reason) {
  rlimit most{};
  if (reason != "std::bad_alloc" || getrlimit(RLIMIT_DATA, &most) != 0 ||
      most.rlim_cur == RLIM_INFINITY)
    return reason;
  return fmt::format("std::bad_alloc: no more host memory; a worker may have {:.1f} GB",
                     double(most.rlim_cur) / 1e9);
}

void require_ok(kzoo_status status, const reason_buffer& reason) {
  switch (status) {
    case KZOO_OK: return;
    case KZOO_UNSUPPORTED: throw refusal{"unsupported", reason.str("the plugin gives no reason")};
    case KZOO_UNAVAILABLE: throw refusal{"unavailable", reason.str("the plugin gives no reason")};
    case KZOO_ERROR:
    case KZOO_LAUNCH_FAILED:
      throw refusal{"error",
                    explained(reason.str("the plugin reports an error and gives no reason"))};
    default:
      throw refusal{"error", fmt::format("the plugin returned {}, which is no status", status)};
  }
}

}  // namespace

void ask_support(const kzoo_variant& variant, const kzoo_problem& p, const kzoo_device& device) {
  reason_buffer reason;
  require_ok(variant.supports(&variant, &p, &device, &reason.text), reason);
}

void* create_instance(const kzoo_variant& variant, const kzoo_problem& p,
                      const kzoo_device& device) {
  reason_buffer reason;
  void* instance = nullptr;
  require_ok(variant.create(&variant, &p, &device, &instance, &reason.text), reason);
  return instance;
}

kzoo_arguments arguments_of(const std::vector<const void*>& inputs, void* c, void* workspace) {
  constexpr std::size_t kAAndB = 2;
  return {.struct_size = sizeof(kzoo_arguments),
          .a = inputs[0],
          .b = inputs[1],
          .c = c,
          .workspace = workspace,
          .stream = nullptr,
          .launches = nullptr,
          .operands = inputs.size() > kAAndB ? inputs.data() + kAAndB : nullptr};
}

void run_instance(const kzoo_variant& variant, void* instance, const kzoo_arguments& arguments) {
  reason_buffer reason;
  try {
    require_ok(variant.run(&variant, instance, &arguments, &reason.text), reason);
  } catch (const refusal& r) {
    // An instance can no longer reject its problem: any failure is an error.
    throw refusal{"error", r.reason};
  }
}

namespace {

results::plugin_description describe(const library& lib) {
  const kzoo_plugin& p = lib.plugin();
  const auto text = [](const char* s) { return std::string(s == nullptr ? "" : s); };
  results::plugin_description d{
      text(p.id), text(p.summary), text(p.build_info), p.device, p.native != 0, {}, {}};
  for (std::uint32_t i = 0; i < p.variant_count; ++i) {
    const kzoo_variant& v = lib.variant(i);
    results::variant_description out;
    out.id = text(v.id);
    out.summary = text(v.summary);
    out.compute_capability = v.compute_capability;
    out.nondeterministic = v.nondeterministic != 0;
    const auto multiple = [](std::uint32_t x) { return std::max<std::int64_t>(1, x); };
    out.granularity = {multiple(v.multiple_m), multiple(v.multiple_n), multiple(v.multiple_k),
                       multiple(v.row_alignment)};
    for (std::uint32_t s = 0; s < v.signature_count; ++s) {
      const kzoo_signature& sig = v.signatures[s];
      out.signatures.push_back({{sig.type_a, sig.type_b, sig.type_c}, sig.compute});
    }
    d.variants.push_back(std::move(out));
  }
  return d;
}

results::launch describe(const kzoo_launch& l) {
  constexpr std::size_t kLongestSymbol = 4096;
  return {{l.grid[0], l.grid[1], l.grid[2]},
          {l.block[0], l.block[1], l.block[2]},
          l.dynamic_shared,
          l.static_shared,
          l.local_bytes,
          l.registers,
          l.resident_warps,
          l.most_warps,
          l.kernel == nullptr ? "" : std::string(l.kernel, strnlen(l.kernel, kLongestSymbol))};
}

}  // namespace

results::plugin_description loaded_plugin::open(const std::filesystem::path& file) {
  const std::set<std::string> before = loaded_libraries();
  library_.emplace(file);
  results::plugin_description d = describe(*library_);
  std::set<std::string> after = loaded_libraries();
  after.erase(std::filesystem::absolute(file).string());
  std::ranges::set_difference(after, before, std::back_inserter(d.libraries));
  return d;
}

void loaded_plugin::ask_support(std::uint32_t variant, const problem& p, const kzoo_device& on) {
  worker::ask_support(library_->variant(variant), to_abi(p), on);
}

std::uint64_t loaded_plugin::workspace_bytes(std::uint32_t variant, const problem& p,
                                             const kzoo_device& on) {
  const kzoo_variant& v = library_->variant(variant);
  const kzoo_problem abi = to_abi(p);
  return v.workspace_bytes(&v, &abi, &on);
}

void loaded_plugin::create(int slot, std::uint32_t variant, const problem& p,
                           const kzoo_device& on) {
  const kzoo_variant& v = library_->variant(variant);
  void* const made = create_instance(v, to_abi(p), on);
  instances_[slot] = {&v, made, {}, nullptr};
}

void loaded_plugin::place(int slot, const placement& where, void* stream) {
  instance& placed = instances_.at(slot);
  placed.where = where;
  placed.stream = stream;
}

void loaded_plugin::run(int slot) {
  const instance& placed = instances_.at(slot);
  kzoo_arguments arguments =
      arguments_of(placed.where.inputs, placed.where.c, placed.where.workspace);
  arguments.stream = placed.stream;
  launches_ = {};
  launch_list_.count = 0;
  arguments.launches = &launch_list_;
  run_instance(*placed.variant, placed.made, arguments);
}

std::vector<results::launch> loaded_plugin::launches(int) {
  std::vector<results::launch> all;
  const std::uint32_t count = std::min({launch_list_.count, launch_list_.capacity, kMaxLaunches});
  for (std::uint32_t i = 0; i < count; ++i) all.push_back(describe(launches_[i]));
  return all;
}

void loaded_plugin::destroy(int slot) {
  const auto placed = instances_.extract(slot);
  if (placed) placed.mapped().variant->destroy(placed.mapped().variant, placed.mapped().made);
}

std::int64_t loaded_plugin::heap_in_use() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // mallinfo2() says 0 there
  return static_cast<std::int64_t>(__sanitizer_get_current_allocated_bytes());
#else
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
#endif
}

std::vector<std::string> loaded_plugin::product_libraries() {
  std::vector<std::string> new_ones;
  std::ranges::set_difference(worker::product_libraries(), libraries_before_,
                              std::back_inserter(new_ones));
  return new_ones;
}

namespace {

// Why the file must not be opened, if so: a pipe may block, a device may react.
std::optional<std::string> obstacle_to_opening(const std::filesystem::path& file) {
  using std::filesystem::file_type;
  std::error_code fault;
  switch (std::filesystem::status(file, fault).type()) {
    case file_type::regular: return std::nullopt;
    case file_type::not_found: return "there is no such file, or its name is not UTF-8";
    case file_type::directory: return "is a directory, not a library";
    case file_type::fifo: return "is a named pipe, not a library";
    case file_type::none: return "cannot be read: " + fault.message();
    default: return "is a device or a socket, not a library";
  }
}

// The id in quotes; only its beginning is read.
std::string shown_id(const char* id) {
  return id == nullptr ? "none" : input::in_quotes({id, strnlen(id, kLongestIdentifier + 1)});
}

bool is_named(const char* id) {
  return id != nullptr && strnlen(id, kLongestIdentifier + 1) <= kLongestIdentifier &&
         is_identifier(id);
}

// Why a descriptor cannot be used, if it cannot.
std::optional<std::string> flaw_in(const kzoo_plugin& p) {
  if (p.struct_size < sizeof(kzoo_plugin)) {
    return fmt::format("its kzoo_plugin has {} bytes, but version {} of the ABI has {}",
                       p.struct_size, KZOO_ABI_MAJOR, sizeof(kzoo_plugin));
  }
  if (!is_named(p.id)) {
    return fmt::format("its id is not made of 1 to {} letters, digits, '_', '.' and '-': {}",
                       kLongestIdentifier, shown_id(p.id));
  }
  if (p.device != KZOO_CPU && p.device != KZOO_CUDA) return "its device is neither cpu nor cuda";
  if (p.variants == nullptr || p.variant_count == 0) return "it offers no variant";
  // Size in ABI 1.0. Fields appended later may be read only if struct_size includes them.
  constexpr std::size_t kVariantBytes = sizeof(kzoo_variant);
  if (p.variant_stride < kVariantBytes) return "its variant_stride is too small";
  std::set<std::string_view> seen;
  for (std::uint32_t i = 0; i < p.variant_count; ++i) {
    const auto& v = *reinterpret_cast<const kzoo_variant*>(
        reinterpret_cast<const char*>(p.variants) + std::size_t(i) * p.variant_stride);
    if (v.struct_size < kVariantBytes) return fmt::format("variant {} is too small", i);
    if (!is_named(v.id)) {
      return fmt::format(
          "the id of variant {} is not made of 1 to {} letters, digits, '_', '.' "
          "and '-': {}",
          i, kLongestIdentifier, shown_id(v.id));
    }
    if (!seen.insert(v.id).second) return fmt::format("two variants are called '{}'", v.id);
    if (v.signatures == nullptr || v.signature_count == 0) {
      return fmt::format("variant '{}' declares no element types", v.id);
    }
    for (std::uint32_t s = 0; s < v.signature_count; ++s) {
      const kzoo_precision declared = v.signatures[s].compute;
      if (std::ranges::find(kPrecisions, declared) == kPrecisions.end())
        return fmt::format(
            "variant '{}' declares the precision {}, which this runner does not know", v.id,
            declared);
    }
    if (!v.supports || !v.workspace_bytes || !v.create || !v.run || !v.destroy) {
      return fmt::format("variant '{}' lacks one of its five functions", v.id);
    }
  }
  return std::nullopt;
}

}  // namespace

library::library(const std::filesystem::path& file) : handle_(*new boost::dll::shared_library) {
  namespace dll = boost::dll;
  if (const auto why = obstacle_to_opening(file)) throw unusable(*why);
  try {
    handle_.load(std::filesystem::absolute(file),
                 dll::load_mode::rtld_now | dll::load_mode::rtld_local);
  } catch (const std::exception& e) {
    throw unusable(fmt::format("cannot be loaded: {}",
                               loader_message(e.what(), std::filesystem::absolute(file).string())));
  }
  if (!handle_.has(KZOO_PLUGIN_SYMBOL_NAME)) {
    constexpr int kNewestGuess = 16;
    for (int version = 1; version <= kNewestGuess; ++version) {
      if (handle_.has(fmt::format("kzoo_plugin_v{}", version))) {
        throw unusable(
            fmt::format("is built for version {} of the plugin ABI, this runner speaks "
                        "version {}: build it again with this runner's SDK",
                        version, KZOO_ABI_MAJOR));
      }
    }
    throw unusable(
        fmt::format("is a library, but not a kernel-zoo plugin: it has no symbol {} "
                    "(is there a KZOO_PLUGIN line in it?)",
                    KZOO_PLUGIN_SYMBOL_NAME));
  }
  plugin_ = &handle_.get<const kzoo_plugin>(KZOO_PLUGIN_SYMBOL_NAME);
  if (const auto flaw = flaw_in(*plugin_))
    throw unusable("has a descriptor that cannot be used: " + *flaw);
}

const kzoo_variant& library::variant(std::uint32_t index) const {
  if (index >= plugin_->variant_count) {
    throw std::out_of_range(fmt::format("variant {} of {}", index, plugin_->variant_count));
  }
  return *reinterpret_cast<const kzoo_variant*>(reinterpret_cast<const char*>(plugin_->variants) +
                                                std::size_t(index) * plugin_->variant_stride);
}

std::set<std::string> loaded_libraries() {
  std::set<std::string> files;
  const auto add = [](dl_phdr_info* library, std::size_t, void* to) {
    const std::string file = library->dlpi_name;
    if (!file.empty()) static_cast<std::set<std::string>*>(to)->insert(file);
    return 0;
  };
  dl_iterate_phdr(add, &files);
  return files;
}

std::set<std::string> product_libraries() {
  constexpr std::array<std::string_view, 13> kNames{
      "blas",    "blis", "cblas", "cublas", "cudnn",    "cusparse", "cutensor",
      "cutlass", "dnnl", "mkl",   "nvblas", "openblas", "torch"};
  std::set<std::string> libraries;
  for (const std::string& path : loaded_libraries()) {
    const std::string file = std::filesystem::path(path).filename();
    for (const std::string_view name : kNames)
      if (file.starts_with("lib" + std::string(name))) libraries.emplace(name);
  }
  return libraries;
}

namespace {

// Segments are read whole, but AddressSanitizer forbids reading between variables.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kMayRead = false;
#else
constexpr bool kMayRead = true;
#endif

bool is_code(const ElfW(Phdr) & segment) {
  return segment.p_type == PT_LOAD && (segment.p_flags & (PF_X | PF_W)) == PF_X;
}

// The segment's contents in its file, mapped for the process's lifetime; empty on failure.
std::span<const std::byte> mapped(int fd, const ElfW(Phdr) & segment) {
  if (fd < 0 || segment.p_filesz != segment.p_memsz) return {};
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t before = segment.p_offset % page;
  void* const all = mmap(nullptr, segment.p_filesz + before, PROT_READ, MAP_PRIVATE, fd,
                         static_cast<off_t>(segment.p_offset - before));
  if (all == MAP_FAILED) return {};
  return {static_cast<const std::byte*>(all) + before, segment.p_filesz};
}

}  // namespace

loaded_code::loaded_code() {
  const auto one = [](dl_phdr_info* library, std::size_t, void* to) {
    const std::string file = library->dlpi_name;
    static_cast<loaded_code*>(to)->add(file.empty() ? "/proc/self/exe" : file, *library);
    return 0;
  };
  if (kMayRead) dl_iterate_phdr(one, this);
}

void loaded_code::add(const std::string& file, const dl_phdr_info& library) {
  const descriptor opened(file.starts_with('/') ? open(file.c_str(), O_RDONLY | O_CLOEXEC) : -1);
  const std::string name =
      file == "/proc/self/exe" ? "the runner" : std::filesystem::path(file).filename();
  for (const ElfW(Phdr) & segment : std::span(library.dlpi_phdr, library.dlpi_phnum)) {
    if (!is_code(segment) && segment.p_type != PT_GNU_RELRO) continue;
    const auto address = static_cast<std::uintptr_t>(library.dlpi_addr + segment.p_vaddr);
    const std::span loaded(reinterpret_cast<const std::byte*>(address),  // NOLINT: the loader's
                           segment.p_memsz);
    std::span<const std::byte> original;
    if (is_code(segment)) original = mapped(opened.fd(), segment);
    // Earlier changes, by a debugger or an injected library, are not a plugin's.
    if (original.empty() || std::memcmp(loaded.data(), original.data(), loaded.size()) != 0)
      original = copies_.emplace_back(loaded.begin(), loaded.end());
    parts_.push_back({name, loaded, original});
  }
}

std::optional<std::string> loaded_code::changed() const {
  const auto differs = [](const part& p) {
    return std::memcmp(p.loaded.data(), p.original.data(), p.loaded.size()) != 0;
  };
  const auto found = std::ranges::find_if(parts_, differs);
  if (found == parts_.end()) return std::nullopt;
  return found->library;
}

}  // namespace kzoo::worker
