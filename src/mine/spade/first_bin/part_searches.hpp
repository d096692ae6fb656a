#pragma once

#include <memory>
#include <stop_token>

#include "mine/spade/first_bin/preceding_spikes.hpp"
#include "mine/spade/first_bin/rule_set.hpp"
#include "mine/spade/first_bin/tasks.hpp"
#include "mine/spade/search/distribute.hpp"

namespace spikeweave::spade {

/// Searches parts on the calling threads. The memory of a thread is kept for the next part.
class part_searches {
public:
    part_searches(const item_index& items, const preceding_spikes& before,
                  const pattern_mining_options& options, const rule_set& rules,
                  std::stop_token stop);
    ~part_searches();
    part_searches(const part_searches&) = delete;
    part_searches& operator=(const part_searches&) = delete;

    /// The patterns of one part. May be called by several threads at once.
    mined_part run(const search_task& task, const part_taker& grown);

private:
    class kept_searches;
    std::unique_ptr<kept_searches> kept_;
};

}  // namespace spikeweave::spade
