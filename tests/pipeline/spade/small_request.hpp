#pragma once

#include <chrono>

#include "spikeweave/pipeline/spade.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace spikeweave {

inline const spike_sequence& planted_recording() {
    static const spike_sequence spikes = simulate_patterns({.units = 8,
                                                            .length = std::chrono::seconds{12},
                                                            .patterns = {4},
                                                            .occurrences = 25,
                                                            .seed = 5})
                                             .spikes;
    return spikes;
}

inline spade_options small_request() {
    spade_options request{.window = 10, .min_occ = 5U};
    request.surrogates.surrogates = 39;
    request.surrogates.seed = 11;
    request.alpha = 0.1;
    return request;
}

inline spade_input prepare(const spade_options& request,
                           const spike_sequence& spikes = planted_recording()) {
    return prepare_spade(bin_recording(spikes, request), request);
}

}  // namespace spikeweave
