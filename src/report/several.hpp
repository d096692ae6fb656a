#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/run_json.hpp"
#include "spikeweave/assess/rate_change.hpp"
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
/// @param what  what is compared, in the plural
void add_verdict_of_changes(json& document, bool is_series, std::string_view what);

/// As columns, with the numbers of both results.
json columns_of(std::span<const rate_change> changes, std::size_t from, std::size_t to);

}  // namespace spikeweave::report
