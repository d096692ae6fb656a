#include "spikeweave/pipeline/episodes/blocks.hpp"

#include "pipeline/call_facts.hpp"

namespace spikeweave {

option_list describe(episodes_in_blocks_options& options) {
    option_list list = describe(options.mining);
    list.remove("compaction");
    list.remove("split");
    list.add_all(describe(options.run, "where to count: cpu"));
    return list;
}

episodes_in_blocks_result find_episodes_in_blocks(spike_blocks& recording,
                                                  const episodes_in_blocks_options& options,
                                                  const execution& run) {
    const pipeline::stop_watch watch;
    check_options(options);
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
    result.seconds = watch.seconds();
    return result;
}

}  // namespace spikeweave
