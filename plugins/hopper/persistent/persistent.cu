// The ladder's last step with all else that was found to help: persistent blocks, clusters, stores
// by TMA, a shared last wave, split K. For matrices of 16 bits, and fp32 as TF32.

#include "tf32.hpp"
#include "variant.hpp"

using persistent::clustered;

KZOO_PLUGIN("persistent", "One block per SM, clusters with multicast, stores by TMA",
            kzoo::variant<persistent::variant<clustered<64, 128, 8, 1, 1, false>>>(
                "64x128x64", "one consumer, 8 stages; for matrices with few tiles"),
            kzoo::variant<persistent::variant<clustered<128, 256, 4, 1, 1, false>>>(
                "128x256x64", "two consumers, 4 stages; for matrices of about one wave"),
            kzoo::variant<persistent::variant<clustered<128, 256, 4, 2, 1, true>>>(
                "128x256x64_2x1", "the same in clusters of two; for large matrices"),
            kzoo::variant<persistent::tf32_variant<clustered<64, 128, 8, 1, 1, false, 32>>>(
                "64x128x32", "one consumer, 8 stages; fp32 matrices as TF32"),
            kzoo::variant<persistent::tf32_variant<clustered<128, 256, 4, 1, 1, false, 32>>>(
                "128x256x32", "two consumers, 4 stages; fp32 matrices as TF32"),
            kzoo::variant<persistent::tf32_variant<clustered<128, 256, 4, 2, 1, true, 32>>>(
                "128x256x32_2x1", "the same in clusters of two; for large matrices"));
