#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "report/run_json.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::report {

/// A result of `episodes`, and the spikes that it was made of.
struct compared_result {
    std::filesystem::path folder{};
    json run{};
    spike_sequence spikes{};
};

/// What one result says of an episode that is compared.
struct compared_count {
    std::uint64_t count = 0;
    /// The numbers of `episodes.tsv`; null if the episode is not frequent there.
    json expected{};
    json q{};
    json strength{};
    bool significant = false;
    /// The kind of the edge of the circuit with these delays, if there is one.
    std::string kind{};
    bool is_listed = false;  ///< whether the episode is in `episodes.tsv`
};

/// An episode, and what each result says of it.
struct compared_episode {
    episode what{};
    std::vector<compared_count> in{};
};

/// Several results in which units are matched by their names.
struct comparison {
    std::vector<compared_result> results{};  ///< their spikes have the same units
    /// The edges and chains of all circuits, by unit and delay.
    std::vector<compared_episode> episodes{};
};

/// Compares results. Where an episode is not frequent, it is counted in the spikes.
/// @throws io_error if a table is damaged; invalid_argument if counts cannot be compared, because
/// the delays or the rule for ties differ; cancelled.
comparison compare(std::vector<compared_result> results, const execution& run);

/// Whether an episode changed from one result to another.
struct episode_change {
    double p = 1;          ///< of equal rates
    double q = 1;          ///< corrected by Benjamini and Hochberg for all episodes
    std::string change{};  ///< "new", "gone", "stronger" or "weaker"; empty if q is above alpha
};

/// Returns the changes of all episodes of a comparison.
std::vector<episode_change> changes_between(const comparison& compared, std::size_t from,
                                            std::size_t to, double alpha);

/// The data of the page, as docs/formats.md describes them.
/// @param is_series  whether a result is compared with the one before it, not with the first one
std::string comparison_page_data(const comparison& compared, bool is_series, double alpha);

}  // namespace spikeweave::report
