#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// Recordings whose units share at most their rates: any connection that is found is false.
namespace null_recordings {

struct null {
    std::string_view name;
    std::vector<spikeweave::delay_interval> delays;
};

/// Returns all nulls.
std::vector<null> all();
/// @throws invalid_argument for an unknown name
spikeweave::spike_sequence make(std::string_view name, std::int64_t length_s, std::uint32_t seed);

}  // namespace null_recordings
