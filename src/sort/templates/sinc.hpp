#pragma once

#include <array>
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

    /// @param at      the sample
    /// @param stride  distance between samples; `reach` of them are read on both sides
    float read(const float* at, std::int64_t stride) const {
        float sum = 0;
        for (std::int64_t k = -reach; k <= reach; ++k)
            sum += weights_[static_cast<std::size_t>(k + reach)] * at[k * stride];
        return sum;
    }

private:
    std::array<float, 2 * reach + 1> weights_{};
};

/// Shifts a waveform later by a fraction of a frame; it is 0 beyond its ends.
std::vector<double> shift_later(std::span<const double> waveform, double fraction);

}  // namespace spikeweave::templates
