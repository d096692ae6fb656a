#pragma once

#include <cstdint>

#include "live/session/events.hpp"

namespace spikeweave::live {

/// The progress of the record of a session, as its sink knows it.
struct record_place {
    /// The number of the last block in the record.
    std::int64_t input = 0;
    /// While a record is repeated, the results that come have been given before, and nothing may
    /// change but what is in the record.
    bool takes_new_results = true;
};

/// Receives what happens in a session, in the order of the recording's time; windows are in an
/// order of their own. If windows are mined by a thread of their own, it gives them (`mined_window`
/// and `silent_range`) while another one gives all else. This one ignores everything.
class sink {
public:
    sink() = default;
    virtual ~sink() = default;
    sink(const sink&) = delete;
    sink& operator=(const sink&) = delete;

    virtual void take(const event& /*what*/) {}
    /// For a sink that records the session.
    virtual record_place place() const { return {}; }
};

}  // namespace spikeweave::live
