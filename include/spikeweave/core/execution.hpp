#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>
#include <vector>

namespace spikeweave {

/// The progress of a long call: `done` of `total` pieces of `task` are finished. `total` is 0 if
/// it is not known.
struct progress_report {
    std::string_view task;
    std::uint64_t done = 0;
    std::uint64_t total = 0;
};

class communicator;

/// The settings with which a call runs: threads, ranks, devices, progress and cancellation. These
/// settings never change the result.
struct execution {
    /// Number of worker threads; 0 uses every core that this process may use.
    int threads = 0;
    /// Called from time to time, from any thread but never from two at once. May be empty.
    std::function<void(const progress_report&)> on_progress{};
    /// Called with what a call will cost, before it begins, if that may be long. May be empty.
    std::function<void(std::string_view)> on_estimate{};
    /// Once a stop is requested, the call throws `cancelled` within a second.
    std::stop_token stop{};
    /// The processes that share the work; each of them makes the same call. Null means this process
    /// alone. Rank 0 gets the complete result.
    std::shared_ptr<communicator> ranks{};
    /// Ordinals of the CUDA devices to compute on (`devices()` lists them); empty means the CPU. A
    /// device that is listed twice gets two shares of the work. A call that cannot compute on
    /// devices throws `invalid_argument`, unless its documentation states that it ignores them.
    std::vector<int> devices{};
};

}  // namespace spikeweave
