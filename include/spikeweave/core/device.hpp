#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spikeweave {

/// Where a strategy computes.
enum class device_kind : std::uint8_t { cpu, cuda };

/// A GPU that this process can compute on.
struct device_info {
    int ordinal = 0;  ///< what `execution::devices` names it by
    std::string name{};
    std::uint64_t total_bytes = 0;
    std::uint64_t free_bytes = 0;
    int multiprocessors = 0;
    /// Compute capability 9.0 is 9 and 0.
    int compute_major = 0;
    int compute_minor = 0;
    /// The driver's own version, such as "580.95.05"; empty where the system does not tell.
    std::string driver{};
    /// The newest CUDA that the driver knows, such as "13.0".
    std::string driver_cuda{};
};

/// The GPUs there are, in the order of their ordinals. Nothing before this call touches a driver.
std::vector<device_info> devices();

/// Why `devices()` is empty: one clause without a full stop; empty where it is not.
std::string why_no_device();

/// "cpu": none; "cuda": the first; "cuda:0,1": these ordinals; "cuda:all"; "automatic": nothing,
/// whoever computes chooses.
/// @throws invalid_argument with the text and what was expected.
std::optional<std::vector<int>> parse_devices(std::string_view text);
/// What `parse_devices` reads.
std::string format_devices(const std::optional<std::vector<int>>& devices);

}  // namespace spikeweave
