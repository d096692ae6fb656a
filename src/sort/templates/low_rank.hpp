#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/templates/unit_template.hpp"

/// Templates as sums of products of a spatial and a temporal part, in integers, so that their
/// correlation with traces is the same to the bit wherever and in whatever order it is computed.
namespace spikeweave::templates {

/// Traces and correlations are in 64ths of a standard deviation of the noise.
constexpr int steps_per_sd = 64;
/// Traces are limited to this many steps, so that no sum of the filters overflows 32 bits.
constexpr int largest_step = 16000;
/// The parts of a filter have norm 1, in 4096ths.
constexpr int filter_bits = 12;
/// The number that is added before the bits are cut off, to round to the nearest.
constexpr std::int32_t half_filter = 1 << (filter_bits - 1);
constexpr std::size_t most_ranks = 5;
/// The share of a template's norm that its parts may leave.
constexpr double most_share_left = 0.02;

/// The matched filter of a template: of norm 1 over channels and frames.
struct matched_filter {
    std::vector<std::uint32_t> channels{};
    std::size_t ranks = 0;
    std::size_t frames = 0;
    std::vector<std::int16_t> spatial{};   ///< ranks x channels
    std::vector<std::int16_t> temporal{};  ///< ranks x frames
    std::int32_t norm = 0;                 ///< of the template, in steps
    /// Standard deviation of the correlation with noise, in steps.
    std::int32_t noise = steps_per_sd;

    std::span<const std::int16_t> spatial_of(std::size_t rank) const {
        return std::span{spatial}.subspan(rank * channels.size(), channels.size());
    }
    std::span<const std::int16_t> temporal_of(std::size_t rank) const {
        return std::span{temporal}.subspan(rank * frames, frames);
    }
};

/// The fewest ranks, at most `most_ranks`, that leave no more than a standard deviation of the
/// noise, or `most_share_left`, of the template.
matched_filter filter_of(const unit_template& from);

/// The template that the filter stands for on one of its channels, shifted later by `fraction`
/// frames, in standard deviations of the noise.
std::vector<float> waveform_of(const matched_filter& filter, std::size_t channel_index,
                               double fraction);
/// The same without a shift on a channel of the recording; zeros if the filter does not have it.
std::vector<float> waveform_on(const matched_filter& filter, std::uint32_t channel);

/// What a spike of another size, time or breadth changes at a frame of its template: the value and
/// the first two derivatives. Outside, the template is 0.
constexpr std::size_t changes_of_template = 3;
std::array<double, changes_of_template> changes_at(std::span<const float> waveform,
                                                   std::size_t frame);

}  // namespace spikeweave::templates
