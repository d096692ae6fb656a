#pragma once

#include <cstdint>

namespace spikeweave::core {

/// Divides times that are not negative by one number many times: a multiplication with its inverse
/// takes a fraction of a division of integers. Half is added first, so the whole part is exact for
/// quotients of less than 2^52 / (2 `by`), which are those of times of up to decades.
class divisor {
public:
    explicit divisor(std::int64_t by) : inverse_(1 / static_cast<double>(by)) {}

    std::int64_t quotient(std::int64_t of) const {
        return static_cast<std::int64_t>((static_cast<double>(of) + 0.5) * inverse_);
    }

private:
    double inverse_;
};

}  // namespace spikeweave::core
