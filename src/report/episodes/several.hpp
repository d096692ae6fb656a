#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/run_json.hpp"
#include "report/several.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::report {

/// Whether two intervals of a pair of units share at least half of the shorter one, as those of one
/// edge in several circuits do: pairs are tested in windows that overlap.
bool is_same_peak(const delay_interval& a, const delay_interval& b);

/// The episodes that are in most circuits first; of edges with the same peak only the first.
/// @param circuits_of  in how many circuits each edge, by its best delay, or chain is
std::vector<episode> one_of_each_peak(const std::map<episode, std::size_t>& circuits_of);

/// A compared episode in one result.
struct compared_count {
    std::uint64_t count = 0;
    /// The numbers of `episodes.tsv`; null if the episode is not frequent there.
    json expected{};
    /// Of a pair, that of the edge of the circuit; null if it is none.
    json q{};
    json strength{};
    /// Of a pair, whether it is an edge of the circuit.
    bool significant = false;
    /// The kind and the sign of the edge of the circuit with these delays, if there is one.
    std::string kind{};
    std::string sign{};
    bool is_listed = false;  ///< whether the episode is in `episodes.tsv`
};

/// A row of `episodes.tsv`.
struct episode_row {
    std::size_t number = 0;  ///< from 1
    episode what{};
    compared_count in{};
};

/// An edge of a circuit: its best delay is what is compared, and all its delays are significant.
struct compared_edge {
    episode best{};
    delay_interval delay{};
    std::string kind{};
    std::string sign{};
    double q = 1;
};

/// A result of `episodes`, the spikes that it was made of, and its tables, whose units are those of
/// the spikes.
struct compared_result {
    std::string name{};   ///< its name on the page
    std::string place{};  ///< its name in messages
    json run{};
    spike_sequence spikes{};
    std::vector<compared_edge> edges{};
    std::vector<episode_row> episodes{};
};

/// Takes the document of a result. @throws json::exception if something is missing.
compared_result compared_result_of(named_result from);

/// An episode, and what each result says of it.
struct compared_episode {
    episode what{};
    std::vector<compared_count> in{};
};

/// Several results in which units are matched by their names.
struct several_results {
    std::vector<compared_result> results{};  ///< their spikes have the same units
    /// The edges and chains of all circuits, by unit and delay; each peak of a pair of units once.
    std::vector<compared_episode> episodes{};
};

/// Compares results. Where an episode is not frequent, it is counted in the spikes.
/// @throws invalid_argument if counts cannot be compared, because
/// the delays or the rule for ties differ, or a run does not say them; cancelled.
several_results several_of(std::vector<compared_result> results, const execution& run);

/// Returns the changes of all episodes from one result to another.
std::vector<rate_change> changes_between(const several_results& compared, std::size_t from,
                                         std::size_t to, double alpha);

/// The data of the page, as docs/formats.md describes them.
/// @param is_series  whether a result is compared with the one before it, not with the first one
std::string several_episodes_data(const several_results& compared, bool is_series, double alpha);

}  // namespace spikeweave::report
