#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// The loops over frames of the matched filters, in integers, for several processors. All give the
/// same sums: weights are at most 1 in 2^-`filter_bits` of norm 1, so that none overflows 32 bits.
namespace spikeweave::templates {

struct filter_kernels {
    const char* name;

    /// out[r][f] = the sum over channels of weights[r * channels + c] * traces[c][f], in units of
    /// the traces, rounded and limited to `largest_projection`.
    void (*project)(std::span<const std::int16_t* const> traces,
                    std::span<const std::int16_t> weights, std::size_t frames,
                    std::span<std::int16_t* const> out);

    /// sums[f] += the sum over k of weights[k] * values[f + k]. There is one value for the last
    /// weight of the last sum, and no more.
    void (*correlate)(std::span<const std::int16_t> values, std::span<const std::int16_t> weights,
                      std::span<std::int32_t> sums);
};

constexpr std::int32_t largest_projection = 16383;

/// Those that run on this processor, the fastest last.
std::span<const filter_kernels> runnable_filter_kernels();

}  // namespace spikeweave::templates
