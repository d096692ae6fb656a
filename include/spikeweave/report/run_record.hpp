#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "spikeweave/core/device.hpp"
#include "spikeweave/core/execution.hpp"

namespace spikeweave {

/// Which bytes a result was computed from.
struct input_record {
    std::string path{};
    std::uint64_t bytes = 0;
    std::string digest_algorithm{};  ///< "xxh3-128"
    std::string digest{};            ///< hexadecimal
};

/// Reads a file once and notes its length and digest; of a folder (Phy) the `.npy`, `.py`, `.tsv`
/// and `.csv` files that stand directly in it, in the order of their names.
/// @throws io_error, cancelled.
input_record describe_input(const std::filesystem::path& path, const execution& run = {});

/// A parameter's value as JSON has it: null for what was left out or has no bound, yes or no, a
/// number, or text, which times with their unit are, too.
using parameter_value = std::variant<std::nullptr_t, bool, std::uint64_t, double, std::string>;
/// In the order in which to show them.
using parameter_list = std::vector<std::pair<std::string, parameter_value>>;

/// Where a result comes from: enough to compute it again.
struct run_record {
    /// The command line as it was typed, or the call.
    std::string command{};
    /// Every parameter of the verb with its resolved value.
    parameter_list parameters{};
    input_record input{};
    /// What the reader and the checks had to say, and what was left out of the spikes.
    std::vector<std::string> warnings{};
    std::size_t duplicates = 0;
    std::size_t stimuli = 0;
    std::string version{};
    std::uint64_t seed = 0;
    int threads = 0;
    /// The GPUs that were computed on.
    std::vector<device_info> devices{};
    double seconds = 0;
    std::uint64_t peak_memory_bytes = 0;
};

}  // namespace spikeweave
