#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/device.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/spikes/epoch_labels.hpp"

namespace spikeweave {

/// The input that a result was computed from.
struct input_record {
    std::string path{};
    std::uint64_t bytes = 0;
    std::string digest_algorithm{};  ///< "xxh3-128"
    std::string digest{};            ///< hexadecimal
};

/// Reads a file once and records its length and digest; for a folder (Phy), those of the `.npy`,
/// `.py`, `.tsv` and `.csv` files directly in it, in the order of their names.
/// @throws io_error, cancelled.
SPIKEWEAVE_API input_record describe_input(const std::filesystem::path& path,
                                           const execution& run = {});

/// A command line as a shell takes it: words that need it are quoted.
SPIKEWEAVE_API std::string shell_line(std::string_view program, std::span<const std::string> words);

/// The origin of a result: everything needed to compute it again.
struct run_record {
    /// The command line as typed, or the call.
    std::string command{};
    /// Every parameter of the command with its resolved value.
    parameter_list parameters{};
    input_record input{};
    /// Warnings of the reader and the checks, and the spikes left out.
    std::vector<std::string> warnings{};
    std::size_t duplicates = 0;
    std::size_t stimuli = 0;
    std::vector<epoch_label> epoch_labels{};
    std::string version{};
    std::uint64_t seed = 0;
    int threads = 0;
    /// The GPUs used.
    std::vector<device_info> devices{};
    double seconds = 0;
    std::uint64_t peak_memory_bytes = 0;
};

/// The peak memory of this process so far; 0 if it is unknown.
SPIKEWEAVE_API std::uint64_t peak_memory_bytes();

/// Records the request and the resources of the run: parameters, seed, threads, GPUs, version, and
/// the peak memory of this process.
/// @param devices  ordinals of the GPUs that were used
SPIKEWEAVE_API void record_run(run_record& record, const option_list& resolved, std::uint64_t seed,
                               const execution& run, std::span<const int> devices);

}  // namespace spikeweave
