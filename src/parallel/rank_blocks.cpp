#include "parallel/ranks.hpp"

#include <utility>

#include "parallel/parallel_for.hpp"
#include "spikeweave/parallel/communicator.hpp"

namespace spikeweave::parallel {

bool is_shared(const execution& run) {
    return run.ranks && run.ranks->size() > 1;
}

execution without_ranks(const execution& run) {
    execution alone = run;
    alone.threads = thread_count(run);
    alone.ranks = nullptr;
    return alone;
}

rank_block block_of_rank(std::size_t n, const execution& run) {
    if (!run.ranks) return {0, n};
    const auto rank = static_cast<std::size_t>(run.ranks->rank());
    const auto ranks = static_cast<std::size_t>(run.ranks->size());
    const std::size_t each = n / ranks;
    const std::size_t more = n % ranks;  // the first ranks take one more piece
    const auto begin = [&](std::size_t r) { return r * each + (r < more ? r : more); };
    return {begin(rank), begin(rank + 1)};
}

rank_block block_of_rank(std::span<const double> costs, const execution& run) {
    if (!run.ranks) return {0, costs.size()};
    double all = 0;
    for (const double cost : costs) all += cost;
    // A piece belongs to the rank in whose share of the whole cost its middle lies.
    const auto begin_of = [&](int rank) {
        if (rank == run.ranks->size()) return costs.size();
        const double share = all * rank / run.ranks->size();
        double before = 0;
        std::size_t i = 0;
        while (i < costs.size() && before + costs[i] / 2 < share) before += costs[i++];
        return i;
    };
    return {begin_of(run.ranks->rank()), begin_of(run.ranks->rank() + 1)};
}

std::vector<std::string> gather_on_all(std::string bytes, const execution& run) {
    if (!is_shared(run)) return {std::move(bytes)};
    std::vector<std::string> parts = run.ranks->gather(std::move(bytes));
    parts.resize(static_cast<std::size_t>(run.ranks->size()));
    for (std::string& part : parts) part = run.ranks->broadcast(std::move(part));
    return parts;
}

void sum_ranks(std::span<std::int64_t> values, const execution& run) {
    // Sums modulo 2^64 are those of signed numbers, too.
    if (is_shared(run))
        run.ranks->sum({reinterpret_cast<std::uint64_t*>(values.data()), values.size()});
}

void sum_ranks(std::uint64_t& value, const execution& run) {
    if (is_shared(run)) run.ranks->sum({&value, 1});
}

}  // namespace spikeweave::parallel
