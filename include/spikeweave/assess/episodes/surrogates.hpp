#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/assess/episodes/significance.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The result of the surrogate test for one episode.
struct surrogate_test {
    double mean_count;  ///< mean count over the surrogates
    double p;           ///< (1 + surrogates with at least this count) / (1 + surrogates)
    double q;           ///< p corrected for all candidates tested at this size
    /// P(count >= c) in a renewal model with the mean count of the surrogates and the data. Unlike
    /// p, it has no lower bound set by the number of surrogates; a correction for thousands of
    /// candidates needs such small values.
    double tail_p;
    double tail_q;  ///< tail_p corrected for all candidates tested at this size
};

/// The counts of episodes in surrogates. These are whole numbers, so neither the order of the
/// surrogates nor who counts them matters.
class SPIKEWEAVE_API surrogate_tally {
public:
    /// The counts of one episode.
    struct entry {
        std::uint64_t sum = 0;      ///< in all surrogates
        std::uint64_t reached = 0;  ///< surrogates with at least the count in the data
        friend bool operator==(const entry&, const entry&) = default;
    };

    explicit surrogate_tally(std::size_t episodes = 0) : entries_(episodes) {}

    /// Adds one surrogate.
    /// @param counts  of each episode in the surrogate
    void add(std::span<const std::uint64_t> counts, const episode_table& table);
    /// Adds other surrogates. @throws invalid_argument if they are of another number of episodes.
    void merge(const surrogate_tally& other);

    std::uint64_t surrogates() const { return surrogates_; }
    /// One element for each episode of the table.
    const std::vector<entry>& entries() const { return entries_; }

    std::string to_bytes() const;
    /// @throws invalid_argument if `to_bytes` did not write these bytes.
    static surrogate_tally from_bytes(std::string_view bytes);

    friend bool operator==(const surrogate_tally&, const surrogate_tally&) = default;

private:
    std::uint64_t surrogates_ = 0;
    std::vector<entry> entries_;
};

/// Counts every episode of the table in this part of the surrogates. With ranks, each rank counts
/// in a block of them, and every rank gets the complete tally.
/// @throws cancelled, invalid_argument.
SPIKEWEAVE_API surrogate_tally count_in_surrogates(const spike_sequence& spikes,
                                                   const episode_table& table,
                                                   const surrogate_options& options,
                                                   const execution& run = {},
                                                   const surrogate_part& part = {});

/// Tests every episode of the table by its counts in the surrogates. An episode of three units or
/// more gets no smaller p and tail_p than those of its steps that the table lists.
/// @throws invalid_argument if there is no surrogate, or the tally is of other episodes.
SPIKEWEAVE_API std::vector<surrogate_test> test_against_surrogates(const spike_sequence& spikes,
                                                                   const episode_table& table,
                                                                   const surrogate_tally& counted,
                                                                   correction_method correction);

/// Counts in all surrogates first.
/// @throws cancelled, invalid_argument.
SPIKEWEAVE_API std::vector<surrogate_test> test_against_surrogates(const spike_sequence& spikes,
                                                                   const episode_table& table,
                                                                   const surrogate_options& options,
                                                                   correction_method correction,
                                                                   const execution& run = {});

/// Replaces the test results by those of the surrogates, for `find_circuit`: expected = mean_count,
/// p = tail_p, and q is the larger of tail_q and the p that counts surrogates. So no episode is
/// significant if there are too few surrogates to show it (fewer than 1 / alpha). Strengths are
/// kept.
/// @throws invalid_argument if the two spans differ in length.
SPIKEWEAVE_API std::vector<episode_test> with_surrogate_tests(
    std::span<const episode_test> assessed, std::span<const surrogate_test> surrogates);

}  // namespace spikeweave
