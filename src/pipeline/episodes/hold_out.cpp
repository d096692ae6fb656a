#include <vector>

#include "pipeline/divided_time.hpp"
#include "pipeline/episodes/search_and_test.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave::pipeline {

episode_result find_in_divided_time(const spike_sequence& spikes, const episode_options& options,
                                    const execution& run) {
    const auto epochs = spikes.epochs();
    const divided_time time =
        divide_time(epochs.empty() ? blocks_of(spikes.span(), options.hold_out_block)
                                   : std::vector(epochs.begin(), epochs.end()),
                    options.hold_out);
    return search_and_test(within_epochs(spikes, time.searched),
                           within_epochs(spikes, time.held_out), false, options, run);
}

}  // namespace spikeweave::pipeline
