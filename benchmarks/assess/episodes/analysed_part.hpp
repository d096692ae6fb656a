#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "spikeweave/core/time.hpp"
#include "spikeweave/pipeline/epochs.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace null_recordings {

/// Which null is measured, and what of each of its recordings is analysed:
/// NULL|all[/UNITS][@EPOCH:GAP|@BEFORE..AFTER]. With /2, each two units are taken as one, as by
/// `--groups`. With @400ms:100ms, only epochs of 400 ms are analysed, with gaps of 100 ms; with
/// @100ms..400ms, those from 100 ms before to 400 ms after events, as by `--around`, with one event
/// a second on average.
struct analysed_part {
    /// @throws invalid_argument if the times are neither of these
    explicit analysed_part(const std::string& text);

    spikeweave::spike_sequence grouped(spikeweave::spike_sequence spikes) const;
    /// The epochs, around events that are drawn from the seed.
    spikeweave::spike_sequence cut(spikeweave::spike_sequence spikes, std::uint32_t seed) const;
    /// Both.
    spikeweave::spike_sequence of(spikeweave::spike_sequence spikes, std::uint32_t seed) const;

    std::string null;
    std::size_t units_of_group = 1;
    spikeweave::epoch_options time{};
    spikeweave::duration before{0};
    spikeweave::duration after{0};
};

}  // namespace null_recordings
