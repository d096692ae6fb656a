#include "spikeweave/pipeline/episodes/blocks.hpp"

#include <chrono>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

void check_for_blocks(const episode_options& options) {
    check_options(options);
    const auto refuse = [](const char* option) {
        throw invalid_argument(option, "it needs the whole recording in memory");
    };
    if (options.time.t_start) refuse("t_start");
    if (options.time.t_stop) refuse("t_stop");
    if (!options.time.epochs.empty()) refuse("epochs");
    if (options.time.trial_length) refuse("trial_length");
    if (options.surrogates.surrogates > 0) refuse("surrogates");
    if (options.hold_out > 0) refuse("hold_out");
}

}  // namespace

episodes_in_blocks_result find_episodes_in_blocks(spike_blocks& recording,
                                                  const episode_options& options,
                                                  const execution& run) {
    const auto began = std::chrono::steady_clock::now();
    check_for_blocks(options);
    execution counting = run;
    counting.threads = options.run.threads;
    counting.devices = options.run.devices.value_or(std::vector<int>{});
    episodes_in_blocks_result result{.found = mine_episodes(recording, options.mining, counting),
                                     .options = options};
    const episode_table& table = result.found.table;
    episode_mining_options& mining = result.options.mining;
    mining.min_count = table.threshold;
    mining.min_fraction.reset();
    mining.min_rate.reset();
    mining.pairs = table.pairs_by;
    mining.strategy = table.ran_on;
    result.options.run.devices = counting.devices;
    result.warnings = table.warnings;
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return result;
}

}  // namespace spikeweave
