#include "checks/check.hpp"
#include "checks/freivalds.hpp"
#include "checks/sanitizers.hpp"
#include "checks/state.hpp"
#include "checks/sweeps.hpp"

namespace kzoo::checks {
namespace {

const freivalds kFreivalds;
const shapes kShapes;
const scalars kScalars;
const exact_integers kExactIntegers;
const precision_probe kPrecisionProbe;
const layouts kLayoutsCheck;
const batches kBatches;
const scaled_inputs kScaledInputs;
const specials kSpecials;
const seeds kSeeds;
const near_size kNearSize;
const new_contents kNewContents;
const new_addresses kNewAddresses;
const interleaving kInterleaving;
const repeats kRepeats;
const compute_sanitizer kMemcheck{"memcheck"}, kRacecheck{"racecheck"};
const address_sanitizer kAddressSanitizer;

const check* const kAll[] = {&kFreivalds,      &kShapes,          &kScalars,      &kExactIntegers,
                             &kPrecisionProbe, &kScaledInputs,    &kLayoutsCheck, &kBatches,
                             &kSpecials,       &kSeeds,           &kNearSize,     &kNewContents,
                             &kNewAddresses,   &kInterleaving,    &kRepeats,      &kMemcheck,
                             &kRacecheck,      &kAddressSanitizer};

}  // namespace

std::span<const check* const> all_checks() { return kAll; }

}  // namespace kzoo::checks
