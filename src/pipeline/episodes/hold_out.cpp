#include "pipeline/episodes/search_and_test.hpp"

#include <cmath>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave::pipeline {
namespace {

// The epochs, or blocks of the recorded span.
std::vector<time_span> blocks_of(const spike_sequence& spikes, duration length) {
    if (!spikes.epochs().empty()) return {spikes.epochs().begin(), spikes.epochs().end()};
    std::vector<time_span> blocks = regular_trials(spikes.span(), length, duration{0});
    if (!blocks.empty()) blocks.back().end = spikes.span().end + duration{1};
    return blocks;
}

struct divided_time {
    std::vector<time_span> searched{};
    std::vector<time_span> held_out{};
};

// Of the first n blocks, share × n are held out, rounded down.
divided_time divide(const spike_sequence& spikes, const episode_options& options) {
    divided_time out;
    double held_out = 0;
    double blocks = 0;
    for (const time_span& block : blocks_of(spikes, options.hold_out_block)) {
        constexpr double rounding = 1e-9;
        const double now = std::floor(options.hold_out * ++blocks + rounding);
        (now > held_out ? out.held_out : out.searched).push_back(block);
        held_out = now;
    }
    if (out.searched.empty() || out.held_out.empty())
        throw invalid_argument("hold_out",
                               "the recording has too few epochs or blocks (`hold_out_block`) to "
                               "hold out this share of them");
    return out;
}

}  // namespace

episode_result find_in_divided_time(const spike_sequence& spikes, const episode_options& options,
                                    const execution& run) {
    const divided_time time = divide(spikes, options);
    return search_and_test(within_epochs(spikes, time.searched),
                           within_epochs(spikes, time.held_out), false, options, run);
}

}  // namespace spikeweave::pipeline
