#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spikeweave::templates {

/// Reads between samples, by a sinc under a Hann window of 16 samples.
class sinc_taps {
public:
    static constexpr std::int64_t reach = 8;

    /// @param fraction  how far after a sample, -0.5 to 1
    explicit sinc_taps(double fraction);

    /// Adds values between samples.
    /// @param at  the sample of the first value; `reach` more are read before it, and as many after
    /// that of the last
    void add(const float* at, std::span<double> into) const {
        constexpr std::size_t step = 32;  // values that stay in registers
        for (std::size_t f = 0; f < into.size(); f += step) {
            const std::size_t count = std::min(step, into.size() - f);
            std::array<float, step> sums{};
            for (std::size_t k = 0; k < weights_.size(); ++k) {
                const float* const from = at - reach + f + k;
                for (std::size_t i = 0; i < count; ++i) sums[i] += weights_[k] * from[i];
            }
            for (std::size_t i = 0; i < count; ++i) into[f + i] += sums[i];
        }
    }

private:
    std::array<float, 2 * reach + 1> weights_{};
};

/// Shifts a waveform later by a fraction of a frame; it is 0 beyond its ends.
std::vector<double> shift_later(std::span<const double> waveform, double fraction);

}  // namespace spikeweave::templates
