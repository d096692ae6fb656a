#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/run_json.hpp"
#include "spikeweave/assess/rate_change.hpp"

namespace spikeweave::report {

/// What two results say of an episode or a pattern.
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

/// As columns, with the numbers of both results.
json columns_of(std::span<const rate_change> changes, std::size_t from, std::size_t to);

}  // namespace spikeweave::report
