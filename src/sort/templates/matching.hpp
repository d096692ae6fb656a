#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/templates/left_over.hpp"
#include "sort/templates/low_rank.hpp"
#include "sort/templates/overlaps.hpp"
#include "sort/templates/unit_template.hpp"

namespace spikeweave::templates {

/// When a correlation counts as a spike.
struct match_rule {
    double threshold = 5;          ///< least correlation with the filter, in standard deviations
    double least_amplitude = 0.6;  ///< relative to the template
    double most_amplitude = 1.6;
    double amplitude_spread = 0.2;  ///< standard deviation that is expected of amplitudes
    double misfit = 0.1;  ///< share of a spike that its template may leave where others overlap
    /// Whether the sizes of spikes that overlap are fitted together, and spikes are accepted by
    /// their size in that fit. Two templates of one neuron then share its spikes, so that they look
    /// like neurons that fire together.
    bool fit_together = false;
    /// The chance that a unit has a spike at any place, by which the threshold of small templates
    /// is lower. 0: it is the same for all.
    double spike_share = 0;
    bool measures_left_over = false;  ///< whether what spikes leave in other scores is wanted
    std::int64_t apart_frames = 15;   ///< spikes of a unit are at least this far apart
};

/// The amplitudes of a unit's spikes, relative to the template.
struct expected_amplitudes {
    double least = 0;
    double usual = 1;
    double most = 0;
    double spread_below = 0;  ///< standard deviation of those below `usual`
    double spread_above = 0;
};

/// The amplitudes that are believed of any unit.
expected_amplitudes amplitudes_of(const match_rule& rule);

/// The amplitudes of a unit times the norm of its template, in steps.
struct match_sizes {
    std::int32_t least = 0;
    std::int32_t usual = 0;
    std::int32_t most = 0;
    std::int64_t weight_below = 0;  ///< cost of an unusual size, in 2^-16
    std::int64_t weight_above = 0;
};

/// The data that are constant for all blocks.
struct match_plan {
    match_plan(std::vector<matched_filter> filters, const match_rule& rule, const execution& run);

    void expect(std::uint32_t unit, const expected_amplitudes& amplitudes);

    std::vector<matched_filter> filters;
    overlap_table overlaps;
    match_rule rule;
    std::vector<std::int32_t> least_score{};  ///< smallest correlation of a spike, by filter
    std::vector<match_sizes> sizes{};         ///< by filter
    /// Share of a unit's spike that may be left for each row of its overlaps, in 2^-overlap_bits.
    std::vector<std::vector<std::int32_t>> misfits{};
};

/// A table for the remainders, with zeros; empty if it is not wanted.
left_over_table nothing_left_over(const match_plan& plan);

/// Traces of a block as integers, channel by channel.
struct integer_block {
    std::size_t channels = 0;
    std::size_t frames = 0;
    std::vector<std::int16_t> values{};  ///< channels x frames

    std::span<const std::int16_t> on(std::size_t channel) const {
        return std::span{values}.subspan(channel * frames, frames);
    }
};

/// Sets the scores to the correlation of each frame of a block with a filter whose spike is there,
/// and leaves those where the filter goes beyond the block.
void correlate(const integer_block& block, const matched_filter& filter, std::size_t before,
               std::span<std::int32_t> scores);

/// The correlation of each frame of a block with each filter.
struct score_table {
    std::size_t frames = 0;
    std::vector<std::int32_t> values{};  ///< filters x frames

    std::span<std::int32_t> of(std::size_t filter) {
        return std::span{values}.subspan(filter * frames, frames);
    }
    std::span<const std::int32_t> of(std::size_t filter) const {
        return std::span{values}.subspan(filter * frames, frames);
    }
};
score_table scores_of(std::span<const matched_filter> filters, const integer_block& block,
                      std::size_t before);

/// A spike found in a block.
struct block_match {
    std::int32_t frame = 0;  ///< in the block
    std::uint32_t unit = 0;
    std::int32_t part = 0;  ///< offset from the frame in parts of a frame, from -2 to 2
    std::int32_t size = 0;  ///< amplitude times the template's norm, in steps

    friend bool operator==(const block_match&, const block_match&) = default;
};

/// The findings in a block.
struct block_matches {
    std::vector<block_match> spikes{};  ///< by frame, then unit
    left_over_table left_over{};        ///< empty if it is not wanted
};

/// Where spikes are searched for.
struct match_limits {
    std::span<const char> excluded{};  ///< not 0 for units that have no spikes; none if empty
    /// Spikes that are certain: they are subtracted, and neither changed nor returned. Their frames
    /// may be outside the block.
    std::span<const block_match> known{};
    std::int32_t first = 1;  ///< the first frame that may have another spike
};

/// Finds spikes by matching pursuit: in each round those are taken that are better than all others
/// that they overlap, and subtracted.
/// @param scores    of the plan's filters
block_matches match_block(const match_plan& plan, score_table scores,
                          const match_limits& limits = {});

}  // namespace spikeweave::templates
