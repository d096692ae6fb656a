#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/stop.hpp"
#include "spikeweave/core/execution.hpp"

namespace spikeweave::io {

/// Called by a reader or writer once per block: reports progress, and stops if that was requested.
class progress_meter {
public:
    progress_meter(const execution& run, std::string task, std::uint64_t total)
        : run_(&run), task_(std::move(task)), total_(total) {}

    void at(std::uint64_t done) const {
        core::throw_if_stopped(run_->stop);
        if (run_->on_progress) run_->on_progress({task_, done, total_});
    }

private:
    const execution* run_;
    std::string task_;
    std::uint64_t total_;
};

}  // namespace spikeweave::io
