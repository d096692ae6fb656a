#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "spikeweave/core/device.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"

/// The calibration by which the strategy `hybrid` chooses. The published rule ("Parallel Mining of
/// Neuronal Spike Streams on Graphics Processing Units") holds for one old card; here the crossover
/// is measured on the device that runs the search.
namespace spikeweave {

/// For episodes of this size, one thread per episode is faster than segments from `episodes`
/// candidates on.
struct hybrid_crossover {
    std::size_t size;
    std::uint64_t episodes;

    friend bool operator==(const hybrid_crossover&, const hybrid_crossover&) = default;
};

/// A table of crossovers, with the device, driver and library version that it was measured with.
struct hybrid_calibration {
    std::string device_name{};
    std::string driver{};
    std::string version{};  ///< version of this library
    /// One entry per size, ascending from 2. Larger episodes use the last entry.
    std::vector<hybrid_crossover> crossovers{};

    friend bool operator==(const hybrid_calibration&, const hybrid_calibration&) = default;
};

/// Returns which strategy `hybrid` uses for this many episodes of this size: true means
/// `thread_per_episode` (at or above the crossover), false `segments_per_episode`.
/// @throws invalid_argument if the table has no entries.
SPIKEWEAVE_API bool prefers_thread_per_episode(const hybrid_calibration& by, std::size_t size,
                                               std::uint64_t episodes);

/// Measures the device, which takes seconds, and saves the table for later runs (docs/formats.md
/// states where). @throws device_error, io_error, cancelled.
SPIKEWEAVE_API hybrid_calibration calibrate_hybrid(int device, const execution& run = {});

/// Loads the table saved for this device, driver and library version; nullopt if it was never
/// measured. @throws io_error if the file is invalid.
SPIKEWEAVE_API std::optional<hybrid_calibration> load_hybrid_calibration(const device_info& device);

/// The file in which the table is saved: below $XDG_CACHE_HOME, or else below $HOME/.cache.
/// @throws io_error if neither variable is set.
SPIKEWEAVE_API std::filesystem::path hybrid_calibration_file(const device_info& device);

}  // namespace spikeweave
