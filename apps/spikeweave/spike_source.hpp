#pragma once

#include <stop_token>
#include <string>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/report/run_record.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave::cli {

/// Whether a path stands for standard input.
inline bool is_standard_input(const std::string& path) {
    return path == "-";
}

/// A file or folder of spikes; of "-" what comes on standard input, which is held in memory because
/// its format is found by a first look.
class spike_source {
public:
    /// Waits until standard input ends.
    /// @throws io_error if that is a terminal or cannot be read; cancelled.
    spike_source(const std::string& path, const std::stop_token& stop);
    ~spike_source();
    spike_source(const spike_source&) = delete;
    spike_source& operator=(const spike_source&) = delete;
    spike_source(spike_source&&) = delete;
    spike_source& operator=(spike_source&&) = delete;

    /// As `read_spikes` and `describe_input`, whose messages call standard input by that name.
    spike_file read(const spike_read_options& how, const execution& run) const;
    input_record describe(const execution& run) const;

private:
    std::string path_;
    int held_ = -1;
};

}  // namespace spikeweave::cli
