#pragma once

#include <boost/math/policies/policy.hpp>

namespace spikeweave::core {

/// Lets Boost.Math calculate in double. By default it takes long double, which has 64 bits of
/// precision on x86-64 and 113 on aarch64, so that results would depend on the processor.
using double_policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

}  // namespace spikeweave::core
