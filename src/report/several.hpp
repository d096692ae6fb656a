#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/run_json.hpp"
#include "spikeweave/assess/rate_change.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/report/page.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::report {

/// A result that a page shows.
struct named_result {
    std::string name{};   ///< its name on the page
    std::string place{};  ///< its name in messages
    json document{};
};

/// The names of the folders of results on a page: by their names, or by their paths if two have the
/// same name.
std::vector<std::string> names_of_folders(std::span<const std::filesystem::path> folders);

/// The data of the page that compares results of one kind.
/// @throws invalid_argument if they cannot be compared, or an option is not for them; cancelled.
std::string several_data(std::vector<named_result> results, const page_options& options,
                         const execution& run);

/// The numbers that the units of one of several sequences get among those of all.
using unit_map = std::vector<unit_id>;

/// Gives all sequences the units of all of them, by their names and in natural order, so that a
/// unit has the same number everywhere.
std::vector<unit_map> join_units(std::span<spike_sequence* const> sequences);

/// An episode or a pattern in two results.
struct counted_twice {
    event_count before{};
    event_count after{};
    bool was_found = false;
    bool is_found = false;
    /// Whether it was found for being rare, as inhibition is: it is stronger if the rate is lower.
    bool is_rare = false;
};

/// Whether it changed from one result to another.
struct rate_change {
    double p = 1;          ///< of equal rates
    double q = 1;          ///< corrected by Benjamini and Hochberg for all
    std::string change{};  ///< "new", "gone", "stronger" or "weaker"; empty if q is above alpha
};

std::vector<rate_change> rate_changes(std::span<const counted_twice> counts, double alpha);

/// Adds the sentence of a page of several results and the warnings of each, as `run`.
/// @param results  the member that lists them
void add_verdict(json& document, const char* results, std::string sentence);
/// Does so for a document with `recordings` and the `changes` between them.
/// @param what  the noun for the compared findings, in the plural
void add_verdict_of_changes(json& document, bool is_series, std::string_view what);

/// As columns, with the numbers of both results.
json columns_of(std::span<const rate_change> changes, std::size_t from, std::size_t to);

/// The data of the page that compares results of `spade`, as docs/formats.md describes them.
/// Patterns are the same if they have the same units and lags in bins. Where one was not found, it
/// is counted in the spikes.
/// @param is_series  whether a result is compared with the one before it, not with the first one
/// @throws invalid_argument if the bins differ or there are only windows; json::exception if
/// something is missing; cancelled.
std::string several_patterns_data(std::vector<named_result> results, bool is_series, double alpha,
                                  const execution& run);

/// The data of the page of several results of `bursts`, as docs/formats.md describes them.
/// @throws json::exception if something is missing.
std::string several_bursts_data(std::vector<named_result> results);

/// Spikes of two sortings that are at most this far apart can be the same, as in SpikeInterface's
/// `compare_two_sorters`.
inline constexpr duration same_spike{400};
/// Units with at least this agreement are matched, and those below `chance_agreement` are not even
/// listed as the best match, as there.
inline constexpr double matched_agreement = 0.5;
inline constexpr double chance_agreement = 0.1;

/// A unit of one sorting and one of the other that have spikes in common.
struct unit_pair {
    unit_id one{};
    unit_id other{};
    std::uint64_t matches = 0;
    double agreement = 0;  ///< matches / (spikes of one + spikes of other - matches)
};

/// All pairs of units with a match, by their numbers. In a pair each spike matches at most one: the
/// earliest that is left.
std::vector<unit_pair> agreement_of(const spike_sequence& one, const spike_sequence& other,
                                    const execution& run);

/// The data of the page that compares two sortings, as docs/formats.md describes them.
/// @throws invalid_argument unless they are two sortings of one recording whose times are known;
/// json::exception if something is missing; cancelled.
std::string several_sortings_data(std::vector<named_result> results, const execution& run);

}  // namespace spikeweave::report
