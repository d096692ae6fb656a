#include "assess/tally_loop.hpp"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "parallel/parallel_for.hpp"
#include "synfire/core/error.hpp"
#include "synfire/parallel/communicator.hpp"

namespace synfire {
namespace {

// Where the block of a rank begins; all blocks together are all surrogates.
std::uint32_t block_begin(std::uint32_t surrogates, int rank, int ranks) {
    return static_cast<std::uint32_t>(std::uint64_t{surrogates} * static_cast<std::uint64_t>(rank) /
                                      static_cast<std::uint64_t>(ranks));
}

maxima_tally merge_ranks(maxima_tally own, communicator& ranks) {
    const std::vector<std::string> parts = ranks.gather(own.to_bytes());
    for (std::size_t rank = 1; rank < parts.size(); ++rank)
        own.merge(maxima_tally::from_bytes(parts[rank]));
    return maxima_tally::from_bytes(ranks.broadcast(ranks.rank() == 0 ? own.to_bytes() : ""));
}

}  // namespace

maxima_tally tally_maxima(maxima_tally empty, std::uint32_t surrogates,
                          const std::function<occurrence_maxima(std::uint32_t which)>& maxima_of,
                          const execution& run) {
    if (surrogates == 0) throw invalid_argument("patterns are tested by at least one surrogate");
    const bool shared = run.ranks && run.ranks->size() > 1;
    const int rank = shared ? run.ranks->rank() : 0;
    const int ranks = shared ? run.ranks->size() : 1;
    const std::uint32_t begin = block_begin(surrogates, rank, ranks);
    const std::uint32_t end = block_begin(surrogates, rank + 1, ranks);

    maxima_tally tally = std::move(empty);
    std::mutex adding;
    parallel_for(end - begin, run, "mining surrogates", [&](std::size_t i) {
        const occurrence_maxima maxima = maxima_of(begin + static_cast<std::uint32_t>(i));
        const std::lock_guard lock(adding);
        tally.add(maxima);
    });
    return shared ? merge_ranks(std::move(tally), *run.ranks) : tally;
}

}  // namespace synfire
