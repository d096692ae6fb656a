#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assess/episodes/turned_cells.hpp"
#include "spikeweave/assess/episodes/significance.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::assess {

/// Cells are at least this many times as wide as a delay interval: with three, rotation removes two
/// of three true followers.
constexpr int intervals_a_cell = 3;

/// The null hypothesis of the test `jitter`: in every cell of a grid, the spikes of one unit are
/// rotated by a uniform amount, and all other units stay unchanged.
class jitter_null {
public:
    /// @param spikes  with epochs so far apart that no episode reaches from one into the next
    /// @param cell width of a cell; an episode with a delay interval wider than a third of it gets
    ///        cells three times as wide as that
    jitter_null(const spike_sequence& spikes, duration cell, tie_rule ties);

    struct verdict {
        double p;
        double expected;  ///< mean count of the cells under the null hypothesis
        double counted;   ///< the count of the cells as recorded
    };
    /// Rotates the units one at a time, beginning with the last, and returns the verdict with the
    /// largest p. Stops when p is `enough` or more.
    /// The cells' own counts are compared with those of the rotated cells, because occurrences that
    /// overlap in two cells are lost in a count of the whole recording, which lowers it.
    verdict test(const episode& what, double enough) const;
    /// The mean count if the spikes of one unit are rotated.
    double expected(const episode& what, std::size_t turned) const;
    /// The number of occurrences that are removed on average if the spikes of one unit are rotated
    /// and each spike of the first unit has an occurrence, as `removed_by_jitter` defines it.
    double removed(const episode& what, std::size_t turned) const;
    /// The width of the cells for an episode.
    std::int64_t cell_us(const episode& what) const;

private:
    /// The spikes in one direction of time. Backwards, the last unit of an episode is its first.
    struct direction {
        std::vector<std::size_t> offsets{};  // the times of unit u are [offsets[u], offsets[u + 1])
        std::vector<std::int64_t> times_us{};
        std::vector<time_span> observed{};

        std::span<const std::int64_t> of(unit_id unit) const {
            return std::span{times_us}.subspan(
                offsets[to_index(unit)], offsets[to_index(unit) + 1] - offsets[to_index(unit)]);
        }
    };
    // The spikes of each unit of an episode, in order.
    using episode_trains = std::vector<std::span<const std::int64_t>>;

    turned_counts with_turned(const direction& way, const episode& what, std::size_t turned) const;
    turned_counts with_last_turned(const episode& what) const;
    turned_counts turned_counts_of(const episode_trains& trains, const episode& what,
                                   std::size_t turned, std::span<const time_span> observed) const;

    direction forward_;
    direction backward_;
    std::int64_t cell_;
    std::int64_t gap_;
};

/// Tests each episode of the table and returns one verdict for each. An episode of three units or
/// more gets no smaller p than any of its steps. An episode of a single unit is not tested: p = 1.
/// @throws invalid_argument if the jitter window is shorter than 1 ms; cancelled.
std::vector<jitter_null::verdict> test_by_jitter(const spike_sequence& spikes,
                                                 const episode_table& table,
                                                 const significance_options& options,
                                                 const execution& run);

}  // namespace spikeweave::assess
