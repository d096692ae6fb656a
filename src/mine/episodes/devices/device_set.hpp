#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mine/episodes/devices/counters.hpp"

namespace spikeweave::episodes {

/// The devices of a run with the spikes on them. Each holds the spikes once, however often it is
/// listed.
class device_set {
public:
    /// @throws device_error if one of `problem.run.devices` does not exist.
    explicit device_set(const counting_problem& problem);

    /// The spikes on each of `problem.run.devices`, one element per entry, in the same order.
    std::span<const device_problem> problems() const { return problems_; }

private:
    std::vector<std::unique_ptr<resident_stream>> streams_{};
    std::vector<device_problem> problems_{};
};

/// Divides the candidates among the devices. Each device has its own host thread and counts its
/// share.
count_result count_on_devices(std::span<const device_problem> devices, device_counter count,
                              const candidate_set& candidates, std::uint64_t at_least);

}  // namespace spikeweave::episodes
