#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>
#include <vector>

namespace spikeweave {

/// Where a long call stands: `done` of `total` pieces of `task`; `total` is 0 when it is not known.
struct progress {
    std::string_view task;
    std::uint64_t done = 0;
    std::uint64_t total = 0;
};

class communicator;

/// How a call runs; never what it answers.
struct execution {
    /// Worker threads; 0 takes every core that this process may use.
    int threads = 0;
    /// Called now and then, from any thread but never from two at once. May be empty.
    std::function<void(const progress&)> on_progress{};
    /// Once it is requested the call throws `cancelled` within a second.
    std::stop_token stop{};
    /// The processes that share the work, each of which makes the same call; null for this one
    /// alone. Results are whole on rank 0.
    std::shared_ptr<communicator> ranks{};
    /// Ordinals of the CUDA devices to compute on (`devices()` lists them); none: on the CPU. A
    /// device that stands here twice takes two shares of the work. A call that cannot compute on
    /// devices throws `invalid_argument`, or says that it does not look at them.
    std::vector<int> devices{};
};

}  // namespace spikeweave
