#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/pipeline/sort.hpp"

namespace spikeweave::pipeline {

/// Numbers the steps of a sort in its progress, because the tasks of each begin at 0 % again.
class numbered_steps {
public:
    numbered_steps(execution run, std::size_t count) : run_(std::move(run)), count_(count) {}

    /// The execution of the next step.
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

/// Estimates the motion as the options say, and has their detection undo it. Where the model is
/// automatic, it becomes the one that is used: none if nothing moves by more than a few um.
/// @return the estimate, used or not
probe_motion follow_motion(const recording& from, sort_options& options, const execution& run);

/// Whether the probe and the options let it estimate motion.
bool may_follow_motion(const recording& from, const sort_options& options);

/// The clusters that a search begins with, as labels of the library.
struct start_labels {
    /// The label of each spike; empty: the search starts by masks.
    std::vector<std::uint32_t> labels{};
    /// Labels to find units in; empty: in all spikes.
    std::vector<std::uint32_t> only{};
};

/// Resolves `start` and `only_clusters` for the spikes of `from`, whose clusters it takes if they
/// are to be used.
/// @throws io_error; invalid_argument if clusters are missing.
start_labels read_start(feature_file& from, const sort_options& options, const execution& run);

/// The options with the filter and the features of the recording that the templates were made of.
detection_options detection_of(const template_set& set, detection_options out);
/// The spikes of known units, and what these do not explain.
struct spikes_of_known {
    template_sorting found{};
    std::vector<unexplained_detection> unexplained{};
    probe_motion motion{};  ///< that was followed
};
/// Finds the spikes of known units, which keep their numbers.
/// @param motion    to follow, as of `online_sorter`
/// @param warnings  gets faults of channels
/// @throws invalid_argument if the recording is of another kind; io_error; cancelled.
spikes_of_known find_known(const template_set& set, const recording& from,
                           const probe_motion& motion, std::vector<std::string>& warnings,
                           const execution& run);

/// Has the detection undo the motion that was followed. If there was none, the model is none.
void undo_followed(const probe_motion& followed, sort_options& options);

/// Gives units the labels that they had where their templates come from, and their origin.
void take_known_labels(const template_set& set, sort_result& result);

/// Appends the spikes of units that the templates lack, whose numbers follow theirs.
/// @throws as `find_new_units`.
void add_new_units(const template_set& set, const recording& from, const sort_options& options,
                   spikes_of_known& known, const execution& run);

/// Warns of units with the spikes of another one: a neuron that was detected on two groups of
/// channels.
void warn_of_repeated_units(sort_result& result);
/// Warns of units that are in step with the mains.
void warn_of_mains(sort_result& result);

}  // namespace spikeweave::pipeline
