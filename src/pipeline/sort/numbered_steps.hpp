#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>

#include "spikeweave/core/execution.hpp"

namespace spikeweave::pipeline {

/// Numbers the steps of a sort in its progress, because the tasks of each begin at 0 % again.
class numbered_steps {
public:
    numbered_steps(execution run, std::size_t count) : run_(std::move(run)), count_(count) {}

    /// The settings with which the next step runs.
    execution next() {
        ++now_;
        if (!run_.on_progress) return run_;
        execution out = run_;
        out.on_progress = [report = run_.on_progress, now = now_,
                           count = count_](const progress_report& at) {
            const std::string task = fmt::format("step {} of {}, {}", now, count, at.task);
            report({task, at.done, at.total});
        };
        return out;
    }

private:
    execution run_;
    std::size_t count_;
    std::size_t now_ = 0;
};

}  // namespace spikeweave::pipeline
