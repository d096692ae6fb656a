#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// The kind of processor that a strategy runs on.
enum class device_kind : std::uint8_t { cpu, cuda };

/// A GPU that this process can compute on.
struct device_info {
    int ordinal = 0;  ///< the number that `execution::devices` uses for it
    std::string name{};
    std::uint64_t total_bytes = 0;
    std::uint64_t free_bytes = 0;
    int multiprocessors = 0;
    /// Compute capability: 9.0 is major 9 and minor 0.
    int compute_major = 0;
    int compute_minor = 0;
    /// The driver's own version, such as "580.95.05"; empty if the system does not report it.
    std::string driver{};
    /// The newest CUDA version that the driver supports, such as "13.0".
    std::string driver_cuda{};
};

/// Lists the available GPUs in the order of their ordinals. The library does not touch a driver
/// before this call.
SPIKEWEAVE_API std::vector<device_info> devices();

/// Explains why `devices()` is empty, as one clause without a full stop. Returns an empty string
/// if there is a GPU.
SPIKEWEAVE_API std::string device_unavailable_reason();

/// Reads a choice of devices: "cpu" is an empty list, "cuda" the first GPU, "cuda:0,1" the GPUs
/// with these ordinals, "cuda:all" every GPU. "automatic" is nullopt: the computation chooses.
/// @throws invalid_argument with the text and the expected forms.
SPIKEWEAVE_API std::optional<std::vector<int>> parse_devices(std::string_view text);
/// Writes a choice of devices in the form that `parse_devices` reads.
SPIKEWEAVE_API std::string format_devices(const std::optional<std::vector<int>>& devices);

}  // namespace spikeweave
