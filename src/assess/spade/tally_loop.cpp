#include "assess/spade/tally_loop.hpp"

#include <mutex>
#include <utility>

#include "assess/rank_blocks.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::assess {

maxima_tally tally_maxima(const maxima_tally& empty, std::uint32_t begin, std::uint32_t end,
                          const std::function<occurrence_maxima(std::uint32_t which)>& maxima_of,
                          const execution& run) {
    if (begin >= end) throw invalid_argument("patterns are tested by at least one surrogate");
    const rank_block block = block_of_rank(end - begin, run);
    const std::size_t first = begin + block.begin;
    maxima_tally own = empty;
    std::mutex adding;
    parallel::parallel_for(block.end - block.begin, run, "mining surrogates", [&](std::size_t i) {
        const occurrence_maxima maxima = maxima_of(static_cast<std::uint32_t>(first + i));
        const std::lock_guard lock(adding);
        own.add(maxima);
    });
    if (!run.ranks) return own;
    maxima_tally whole = empty;
    for (const std::string& part : gather_on_all(own.to_bytes(), run))
        whole.merge(maxima_tally::from_bytes(part));
    return whole;
}

}  // namespace spikeweave::assess
