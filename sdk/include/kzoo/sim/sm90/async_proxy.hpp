// For modules with wgmma or TMA: the simulator notes what cp.async and stmatrix write, up to
// fence_async_proxy(). Others are simulated faster.
#pragma once

namespace kzoo::sim::sm90 {

bool follow_async_proxy();  // from now on
inline const bool kFollowsAsyncProxy = follow_async_proxy();

}  // namespace kzoo::sim::sm90
