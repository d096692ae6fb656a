#include "assess/spade/maxima_tally.hpp"

#include <mutex>
#include <utility>

#include "parallel/parallel_for.hpp"
#include "parallel/ranks.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::assess {

using parallel::block_of_rank;
using parallel::gather_on_all;
using parallel::rank_block;

maxima_tally tally_on_ranks(const maxima_tally& empty, std::uint32_t begin, std::uint32_t end,
                            const tally_filler& fill, const execution& run) {
    if (begin >= end) throw invalid_argument("patterns are tested by at least one surrogate");
    const rank_block block = block_of_rank(end - begin, run);
    maxima_tally own = empty;
    fill(begin + static_cast<std::uint32_t>(block.begin),
         begin + static_cast<std::uint32_t>(block.end), own);
    if (!run.ranks) return own;
    maxima_tally whole = empty;
    for (const std::string& part : gather_on_all(own.to_bytes(), run))
        whole.merge(maxima_tally::from_bytes(part));
    return whole;
}

maxima_tally tally_maxima(const maxima_tally& empty, std::uint32_t begin, std::uint32_t end,
                          const std::function<occurrence_maxima(std::uint32_t which)>& maxima_of,
                          const execution& run) {
    const auto fill = [&](std::uint32_t first, std::uint32_t last, maxima_tally& into) {
        std::mutex adding;
        parallel::parallel_for(last - first, run, "mining surrogates", [&](std::size_t i) {
            const occurrence_maxima maxima = maxima_of(first + static_cast<std::uint32_t>(i));
            const std::lock_guard lock(adding);
            into.add(maxima);
        });
    };
    return tally_on_ranks(empty, begin, end, fill, run);
}

}  // namespace spikeweave::assess
