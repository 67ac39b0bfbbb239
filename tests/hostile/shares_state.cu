// What belongs to an instance kept in a global: right until a second instance is made, or gone.
#include "hostile.hpp"

namespace {

__global__ void shares_state_kernel(hostile::gemm g) { hostile::store_product(g); }

enum class state { columns, alpha, owner };

std::int64_t columns = 0;
double alpha = 1;
const void* owner = nullptr;

template <state kState>
class shares_state {
 public:
  using types = kzoo::types<float>;

  shares_state(const kzoo_problem& p, const kzoo_device&) {
    columns = p.n;
    alpha = p.alpha;
    if (owner == nullptr) owner = this;
  }
  ~shares_state() {
    if (owner == this) owner = nullptr;
  }
  void run(hostile::gemm g, kzoo::stream_t stream) const {
    if (kState == state::columns && columns < g.n) g.n = static_cast<int>(columns);
    if (kState == state::alpha) g.alpha = static_cast<float>(alpha);
    if (kState == state::owner && owner == nullptr) return;
    hostile::launch(shares_state_kernel, g, stream);
  }
};

}  // namespace

KZOO_PLUGIN("shares_state", "Keeps what is an instance's for all of them",
            kzoo::variant<shares_state<state::columns>>("columns", "N of the newest"),
            kzoo::variant<shares_state<state::alpha>>("alpha", "alpha of the newest"),
            kzoo::variant<shares_state<state::owner>>("owner", "what the first one frees"));
