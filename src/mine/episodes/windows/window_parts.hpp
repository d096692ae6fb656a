#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mine/episodes/windows/spike_store.hpp"
#include "spikeweave/mine/episodes/windows.hpp"

struct spikeweave::window_spikes::parts {
    std::vector<episodes::chunk_part> of_chunks;
    std::shared_ptr<const std::vector<std::string>> unit_names;
    std::uint64_t epoch;  // the stream of the window, and its epoch
};
