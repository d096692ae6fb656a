#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "spikeweave/core/device.hpp"
#include "spikeweave/core/execution.hpp"

/// What the strategy `hybrid` chooses by. The published rule ("Parallel Mining of Neuronal Spike
/// Streams on Graphics Processing Units") holds for one old card; here the crossover is measured on
/// the device that runs.
namespace spikeweave {

/// From this many episodes of one size on, a thread for each of them is faster than segments.
struct hybrid_crossover {
    std::size_t size;
    std::uint64_t episodes;

    friend bool operator==(const hybrid_crossover&, const hybrid_crossover&) = default;
};

/// A table and what it is of.
struct hybrid_calibration {
    std::string device_name{};
    std::string driver{};
    std::string version{};  ///< of this library
    /// Sizes ascend from 2; larger episodes are judged like the last.
    std::vector<hybrid_crossover> crossovers{};

    friend bool operator==(const hybrid_calibration&, const hybrid_calibration&) = default;
};

/// `thread_per_episode` from the crossover on, `segments_per_episode` below it.
/// @throws invalid_argument for a table without entries.
bool gives_each_episode_a_thread(const hybrid_calibration& by, std::size_t size,
                                 std::uint64_t episodes);

/// Measures the device, which takes seconds, and keeps the table for later runs (docs/formats.md
/// says where). @throws device_error, io_error, cancelled.
hybrid_calibration calibrate_hybrid(int device, const execution& run = {});

/// What was kept of this device with this driver and this version; nothing if it was not measured.
/// @throws io_error for a file that cannot be what it says.
std::optional<hybrid_calibration> kept_hybrid_calibration(const device_info& device);

/// Where it is kept: below $XDG_CACHE_HOME, else $HOME/.cache. @throws io_error if neither is set.
std::filesystem::path hybrid_calibration_file(const device_info& device);

}  // namespace spikeweave
