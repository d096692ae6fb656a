#include "spikeweave/assess/spade/tally.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "assess/spade/maxima_tally.hpp"
#include "parallel/parallel_for.hpp"
#include "parallel/ranks.hpp"
#include "spikeweave/assess/spade.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// The rank of a pattern: larger patterns are better, and earlier ones among equals.
struct rank {
    std::size_t size;
    std::uint32_t count;
    std::uint64_t number;

    bool before(const rank& other) const {
        return std::tuple(size, count, other.number) > std::tuple(other.size, other.count, number);
    }
};

struct candidate {
    rank at;
    std::vector<pattern_item> items;
};

// Larger patterns are too rare and too varied for a flat array of their counts.
constexpr std::size_t most_flat_size = 64;
constexpr std::uint64_t most_flat_cells = std::uint64_t{1} << 22;

}  // namespace

struct pattern_tally::state {
    std::uint32_t window_bins;
    std::uint32_t durations;
    std::size_t wanted;
    std::uint64_t patterns = 0;
    /// For each size, counts in rows of `durations`, extended as needed.
    std::vector<std::vector<std::uint64_t>> flat{};
    std::map<pattern_signature, std::uint64_t> rare{};
    /// A heap with the worst pattern on top.
    std::vector<candidate> best{};

    void count(std::size_t size, std::uint32_t count, std::uint32_t bins) {
        const std::uint64_t at = std::uint64_t{count} * durations + (durations > 1 ? bins : 0);
        if (size >= most_flat_size || at >= most_flat_cells) {
            ++rare[{.size = static_cast<std::uint32_t>(size),
                    .count = count,
                    .duration = durations > 1 ? bins : 0}];
            return;
        }
        if (size >= flat.size()) flat.resize(size + 1);
        std::vector<std::uint64_t>& row = flat[size];
        if (at >= row.size())
            row.resize(std::max<std::size_t>(at + 1, row.size() + row.size() / 2));
        ++row[at];
    }

    static bool worse_on_top(const candidate& a, const candidate& b) { return a.at.before(b.at); }

    void offer(const rank& at, std::span<const pattern_item> items) {
        if (best.size() == wanted) {
            if (wanted == 0 || !at.before(best.front().at)) return;
            std::pop_heap(best.begin(), best.end(), worse_on_top);
            best.pop_back();
        }
        best.push_back({at, {items.begin(), items.end()}});
        std::push_heap(best.begin(), best.end(), worse_on_top);
    }

    std::vector<candidate> in_order() const {
        std::vector<candidate> out = best;
        std::sort(out.begin(), out.end(),
                  [](const auto& a, const auto& b) { return a.at.number < b.at.number; });
        return out;
    }
};

pattern_tally::pattern_tally(std::uint32_t window_bins, spectrum_kind kind, std::size_t best)
    : state_(new state{.window_bins = window_bins,
                       .durations = kind == spectrum_kind::size_count ? 1 : window_bins,
                       .wanted = best}) {}

pattern_tally::~pattern_tally() = default;

void pattern_tally::take(const pattern_table& block) {
    for (std::size_t i = 0; i < block.size(); ++i) {
        const auto items = block.pattern(i);
        state_->count(items.size(), block.counts[i], block.duration(i));
        state_->offer({items.size(), block.counts[i], ++state_->patterns}, items);
    }
}

std::uint64_t pattern_tally::patterns() const {
    return state_->patterns;
}

std::vector<signature_count> pattern_tally::signatures() const {
    std::vector<signature_count> out;
    const std::uint32_t durations = state_->durations;
    for (std::size_t size = 0; size < state_->flat.size(); ++size)
        for (std::size_t at = 0; at < state_->flat[size].size(); ++at)
            if (const std::uint64_t n = state_->flat[size][at]; n > 0)
                out.push_back({.size = static_cast<std::uint32_t>(size),
                               .count = static_cast<std::uint32_t>(at / durations),
                               .duration = static_cast<std::uint32_t>(at % durations),
                               .patterns = n});
    for (const auto& [what, n] : state_->rare)
        out.push_back({what.size, what.count, what.duration, n});
    std::sort(out.begin(), out.end());
    return out;
}

pattern_table pattern_tally::best() const {
    pattern_table out{.window_bins = state_->window_bins};
    for (const candidate& one : state_->in_order()) out.append(one.items, one.at.count);
    return out;
}

std::vector<std::uint64_t> pattern_tally::best_numbers() const {
    std::vector<std::uint64_t> out;
    out.reserve(state_->best.size());
    for (const candidate& one : state_->in_order()) out.push_back(one.at.number);
    return out;
}

}  // namespace spikeweave

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
