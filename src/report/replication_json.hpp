#pragma once

#include <cstddef>
#include <optional>

#include "report/run_json.hpp"

namespace spikeweave::report {

/// What spikes that were not searched say of the findings of a search.
struct replication_record {
    duration searched{};
    duration tested_in{};  ///< the time of the other spikes
    std::size_t tested = 0;
    std::optional<std::size_t> significant{};  ///< in the search, if not all that were tested are
    std::size_t replicated = 0;
};

/// What also is to be said if these spikes are another recording's.
struct other_recording {
    const char* role;  ///< the name of `file`
    json file;         ///< the recording that is not the input
    json missing_units;
    std::size_t untested;  ///< findings with such a unit
};

/// The part `hold_out` or `confirm` of run.json.
json replication_json(const replication_record& what, std::optional<other_recording> other);

}  // namespace spikeweave::report
