#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "mine/spade/fp_growth/record_groups.hpp"
#include "mine/spade/fp_growth/tree.hpp"
#include "mine/spade/search/distribute.hpp"
#include "mine/spade/search/miners.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/parallel/communicator.hpp"

// The published miner (Porrmann et al. 2021, doi:10.3389/fninf.2021.723406): FP-growth over all
// frequent sets, whose collectors store only what the rules take, and closed detection over that.
// A filtered set that is not closed has a closure that passes the filter too, so that nothing else
// need be compared. The closed detection is not the published one: sets with the same occurrences
// are grouped and compared.
//
// The entries of the header table are distributed among threads and ranks. Closed detection is done
// by the threads of rank 0, since every pattern must be compared with those of other entries.
// Rank 0 holds all patterns that pass the filter, with occurrences, until the last block is passed
// on.
namespace spikeweave::spade {
namespace {

// The windows in terms of ranks. Items in at least `least` windows have a rank, 0 for the most
// frequent; among equally frequent items the smaller one is first.
class ranked_windows {
public:
    ranked_windows(const spade_windows& windows, std::uint32_t least);

    /// The number of ranks.
    std::size_t size() const { return items_.size(); }
    pattern_item item(std::uint32_t rank) const { return items_[rank]; }
    /// The ranks in a window, ascending.
    std::span<const std::uint32_t> ranks_in(std::size_t window) const {
        return std::span{ranks_}.subspan(rank_offsets_[window],
                                         rank_offsets_[window + 1] - rank_offsets_[window]);
    }
    /// The windows with a rank, ascending.
    std::span<const std::uint32_t> windows_with(std::uint32_t rank) const {
        return std::span{holders_}.subspan(holder_offsets_[rank],
                                           holder_offsets_[rank + 1] - holder_offsets_[rank]);
    }
    std::size_t window_count() const { return rank_offsets_.size() - 1; }

private:
    std::vector<pattern_item> items_;
    std::vector<std::size_t> rank_offsets_{0};
    std::vector<std::uint32_t> ranks_;
    std::vector<std::size_t> holder_offsets_{0};
    std::vector<std::uint32_t> holders_;
};

ranked_windows::ranked_windows(const spade_windows& windows, std::uint32_t least) {
    constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> supports(windows.unit_count() * windows.window_bins(), 0);
    for (std::size_t w = 0; w < windows.size(); ++w)
        for (const pattern_item item : windows.items(w)) ++supports[item];

    for (pattern_item item = 0; item < supports.size(); ++item)
        if (supports[item] >= std::max(least, 1U)) items_.push_back(item);
    std::stable_sort(items_.begin(), items_.end(),
                     [&](pattern_item a, pattern_item b) { return supports[a] > supports[b]; });
    std::vector<std::uint32_t> rank_of(supports.size(), none);
    holder_offsets_.reserve(size() + 1);
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
        rank_of[items_[rank]] = rank;
        holder_offsets_.push_back(holder_offsets_.back() + supports[items_[rank]]);
    }

    ranks_.reserve(holder_offsets_.back());
    rank_offsets_.reserve(windows.size() + 1);
    holders_.resize(holder_offsets_.back());
    std::vector<std::size_t> next(holder_offsets_.begin(), holder_offsets_.end() - 1);
    for (std::size_t w = 0; w < windows.size(); ++w) {
        for (const pattern_item item : windows.items(w)) {
            const std::uint32_t rank = rank_of[item];
            if (rank == none) continue;
            ranks_.push_back(rank);
            holders_[next[rank]++] = static_cast<std::uint32_t>(w);
        }
        std::sort(ranks_.begin() + static_cast<std::ptrdiff_t>(rank_offsets_.back()), ranks_.end());
        rank_offsets_.push_back(ranks_.size());
    }
}

// Whether a pattern of this count, size and number of different units meets a rule, apart from
// `max_spikes`.
bool passes(const pattern_rule& rule, std::size_t count, std::size_t size, std::size_t units) {
    return count >= rule.min_occ && size >= rule.min_spikes && units >= rule.min_neu;
}

// Collects the patterns found by the search below one entry of the first header table. It filters,
// so that unwanted patterns are never stored. The filter ignores `max_spikes`, because a pattern
// that is too large still shows that its parts are not closed.
class pattern_collector {
public:
    /// @param rank  the largest rank in each pattern that follows
    pattern_collector(const spade_windows& windows, const ranked_windows& ranked,
                      std::span<const pattern_rule> rules, std::uint32_t rank);

    void add(std::span<const std::uint32_t> ranks, std::uint32_t count);
    /// The patterns kept, with occurrences.
    pattern_table& table() { return table_; }

private:
    bool wanted(std::span<const std::uint32_t> ranks, std::uint32_t count);
    void find_bits();
    void find_starts(std::span<const std::uint32_t> ranks);

    const spade_windows* windows_;
    const ranked_windows* ranked_;
    std::span<const pattern_rule> rules_;
    std::uint32_t least_spikes_;
    std::uint32_t rank_;
    pattern_table table_;
    // For each smaller rank, the windows with `rank_` that also have it; made when the first
    // pattern is kept.
    std::size_t words_ = 0;
    std::vector<std::uint64_t> bits_;
    std::vector<std::uint64_t> common_;
    std::vector<std::uint32_t> starts_;
    std::vector<pattern_item> items_;
    std::vector<std::uint32_t> units_;
};

pattern_collector::pattern_collector(const spade_windows& windows, const ranked_windows& ranked,
                                     std::span<const pattern_rule> rules, std::uint32_t rank)
    : windows_(&windows),
      ranked_(&ranked),
      rules_(rules),
      least_spikes_(std::numeric_limits<std::uint32_t>::max()),
      rank_(rank),
      table_{.window_bins = windows.window_bins()},
      words_((ranked.windows_with(rank).size() + 63) / 64) {
    for (const pattern_rule& rule : rules) least_spikes_ = std::min(least_spikes_, rule.min_spikes);
}

void pattern_collector::add(std::span<const std::uint32_t> ranks, std::uint32_t count) {
    if (!wanted(ranks, count)) return;
    find_starts(ranks);
    const std::uint32_t window_bins = table_.window_bins;
    std::sort(items_.begin(), items_.end(), [&](pattern_item a, pattern_item b) {
        return a % window_bins != b % window_bins ? a % window_bins < b % window_bins : a < b;
    });
    table_.append(items_, count, starts_);
}

// Also leaves the pattern's items and units in `items_` and `units_`.
bool pattern_collector::wanted(std::span<const std::uint32_t> ranks, std::uint32_t count) {
    if (ranks.size() < least_spikes_) return false;
    items_.clear();
    bool in_first_bin = false;
    for (const std::uint32_t rank : ranks) {
        items_.push_back(ranked_->item(rank));
        in_first_bin |= items_.back() % table_.window_bins == 0;
    }
    if (!in_first_bin) return false;
    units_.clear();
    for (const pattern_item item : items_) units_.push_back(item / table_.window_bins);
    std::sort(units_.begin(), units_.end());
    const auto units = std::unique(units_.begin(), units_.end()) - units_.begin();
    return std::any_of(rules_.begin(), rules_.end(), [&](const pattern_rule& rule) {
        return passes(rule, count, ranks.size(), static_cast<std::size_t>(units));
    });
}

void pattern_collector::find_bits() {
    bits_.assign(words_ * rank_, 0);
    const auto holders = ranked_->windows_with(rank_);
    for (std::size_t i = 0; i < holders.size(); ++i) {
        for (const std::uint32_t rank : ranked_->ranks_in(holders[i])) {
            if (rank >= rank_) break;
            bits_[rank * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
        }
    }
}

void pattern_collector::find_starts(std::span<const std::uint32_t> ranks) {
    const auto holders = ranked_->windows_with(rank_);
    if (bits_.empty()) find_bits();
    common_.assign(words_, ~std::uint64_t{0});
    common_.back() >>= words_ * 64 - holders.size();
    for (const std::uint32_t rank : ranks) {
        if (rank == rank_) continue;
        for (std::size_t word = 0; word < words_; ++word)
            common_[word] &= bits_[rank * words_ + word];
    }
    starts_.clear();
    for (std::size_t word = 0; word < words_; ++word)
        for (std::uint64_t rest = common_[word]; rest != 0; rest &= rest - 1)
            starts_.push_back(windows_->starts()[holders[word * 64 + static_cast<std::size_t>(
                                                                         std::countr_zero(rest))]]);
}

fp_tree tree_of(const ranked_windows& ranked) {
    std::vector<std::uint32_t> order;
    order.reserve(ranked.window_count());
    for (std::uint32_t w = 0; w < ranked.window_count(); ++w) order.push_back(w);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::ranges::lexicographical_compare(ranked.ranks_in(a), ranked.ranks_in(b));
    });
    fp_tree tree(ranked.size());
    for (const std::uint32_t w : order) tree.insert(ranked.ranks_in(w), 1);
    return tree;
}

// The search below one entry of the first header table.
class growth {
public:
    growth(pattern_collector& into, std::uint32_t least, const std::stop_token& stop)
        : into_(into), least_(least), stop_(stop) {}

    void run(const fp_tree& whole, std::size_t entry) { extend(whole, entry, 0); }

private:
    // Takes the current pattern with one entry of the tree of its windows, then all its extensions.
    void extend(const fp_tree& tree, std::size_t entry, std::size_t depth) {
        constexpr std::uint32_t between_checks = 1024;
        if (++steps_ % between_checks == 0) core::throw_if_stopped(stop_);
        const std::size_t before = pattern_.size();
        pattern_.push_back(tree.rank(entry));
        if (depth == trees_.size()) trees_.emplace_back();
        fp_tree& next = trees_[depth];
        tree.project(entry, least_, next, pattern_);
        into_.add(pattern_, tree.support(entry));
        if (next.is_path())
            follow(next);
        else
            for (std::size_t i = next.size(); i-- > 0;) extend(next, i, depth + 1);
        pattern_.resize(before);
    }

    // On a path, only those sets can be closed that reach down to where the support falls next.
    void follow(const fp_tree& path) {
        for (std::size_t i = 0; i < path.size(); ++i) {
            pattern_.push_back(path.rank(i));
            if (i + 1 == path.size() || path.support(i + 1) < path.support(i))
                into_.add(pattern_, path.support(i));
        }
    }

    pattern_collector& into_;
    std::uint32_t least_;
    const std::stop_token& stop_;
    std::uint32_t steps_ = 0;
    std::vector<std::uint32_t> pattern_;
    std::deque<fp_tree> trees_;  // by depth
};

std::uint32_t least_occ(const std::vector<pattern_rule>& rules) {
    return std::ranges::min(rules, {}, &pattern_rule::min_occ).min_occ;
}

// Makes one table per entry of the header table, so that threads never write to shared data. Rank 0
// gets all tables, the other ranks none.
std::vector<pattern_table> collect(const spade_windows& windows,
                                   const pattern_mining_options& options, const execution& run) {
    const std::uint32_t least = least_occ(options.rules);
    const ranked_windows ranked(windows, least);
    const fp_tree tree = tree_of(ranked);
    std::vector<double> costs;
    costs.reserve(tree.size());
    // The cost: an entry's windows times the entries above it, from which its projected tree is
    // made.
    for (std::size_t i = 0; i < tree.size(); ++i)
        costs.push_back(static_cast<double>(tree.support(i)) * static_cast<double>(i + 1));
    std::vector<pattern_table> tables;
    for_each_part(
        costs, run,
        [&](std::size_t i, const part_taker&) {
            pattern_collector collector(windows, ranked, options.rules, tree.rank(i));
            growth(collector, least, run.stop).run(tree, i);
            return mined_part{.patterns = std::move(collector.table())};
        },
        [&](mined_part part) {
            if (!part.patterns.empty()) tables.push_back(std::move(part.patterns));
        });
    return tables;
}

// The closed patterns that the caller wants.
class selection {
public:
    selection(const std::vector<pattern_table>& tables, const pattern_mining_options& options)
        : tables_(tables), options_(options) {}

    // Ignores `max_occ`.
    void keep_taken(std::vector<record>& records) const {
        std::erase_if(records, [&](const record& one) { return !taken(one); });
    }
    void drop_too_frequent(std::vector<record>& records) const {
        if (options_.max_occ == 0) return;
        std::erase_if(records, [&](const record& one) {
            return tables_[one.table].counts[one.row] > options_.max_occ;
        });
    }

private:
    bool taken(const record& one) const {
        const pattern_table& table = tables_[one.table];
        const auto items = table.pattern(one.row);
        std::vector<std::uint32_t> units;
        units.reserve(items.size());
        for (const pattern_item item : items) units.push_back(item / table.window_bins);
        std::sort(units.begin(), units.end());
        const auto distinct =
            static_cast<std::size_t>(std::unique(units.begin(), units.end()) - units.begin());
        return std::any_of(options_.rules.begin(), options_.rules.end(),
                           [&](const pattern_rule& rule) {
                               return passes(rule, table.counts[one.row], items.size(), distinct) &&
                                      (rule.max_spikes == 0 || items.size() <= rule.max_spikes);
                           });
    }

    const std::vector<pattern_table>& tables_;
    const pattern_mining_options& options_;
};

std::vector<record> select(const std::vector<pattern_table>& tables, const spade_windows& windows,
                           const pattern_mining_options& options, const execution& run,
                           mining_summary& summary) {
    const selection wanted(tables, options);
    std::vector<record> closed = closed_records(tables, run);
    std::vector<record> kept = closed;
    wanted.keep_taken(kept);
    summary.closed = kept.size();
    if (options.drop_window_subsets && windows.from_bins() && windows.window_bins() > 1) {
        // Compares with all closed patterns: the longer pattern may be beyond `max_spikes`.
        kept = without_window_subsets(tables, std::move(closed), run);
        wanted.keep_taken(kept);
        summary.window_subsets = summary.closed - kept.size();
    }
    const std::size_t before = kept.size();
    wanted.drop_too_frequent(kept);
    summary.too_frequent = before - kept.size();
    return kept;
}

// The rank of each item, in the order of tables, in patterns that begin with this unit's spike.
std::vector<std::uint32_t> ranks_beside(std::uint32_t unit, const spade_windows& windows) {
    const std::uint32_t window_bins = windows.window_bins();
    std::vector<std::uint32_t> together(windows.unit_count() * window_bins, 0);
    for (std::size_t w = 0; w < windows.size(); ++w) {
        const auto items = windows.items(w);
        if (!std::binary_search(items.begin(), items.end(), unit * window_bins)) continue;
        for (const pattern_item item : items) ++together[item];
    }
    std::vector<pattern_item> order(together.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](pattern_item a, pattern_item b) {
        return std::tuple(together[a], a % window_bins, a) <
               std::tuple(together[b], b % window_bins, b);
    });
    std::vector<std::uint32_t> ranks(order.size());
    for (std::uint32_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
    return ranks;
}

// The patterns in the order of tables, grouped by their first item.
std::vector<std::vector<record>> ordered(const std::vector<pattern_table>& tables,
                                         const std::vector<record>& records,
                                         const spade_windows& windows, const execution& run) {
    std::vector<std::vector<record>> piles(windows.unit_count());
    const auto items = [&](const record& one) { return tables[one.table].pattern(one.row); };
    for (const record& one : records)
        piles[items(one).front() / windows.window_bins()].push_back(one);
    parallel::parallel_for(piles.size(), run, "ordering patterns", [&](std::size_t i) {
        if (piles[i].empty()) return;
        const std::vector<std::uint32_t> ranks =
            ranks_beside(static_cast<std::uint32_t>(i), windows);
        std::vector<std::pair<std::vector<std::uint32_t>, record>> words;
        words.reserve(piles[i].size());
        for (const record& one : piles[i]) {
            std::vector<std::uint32_t> word;
            word.reserve(items(one).size());
            for (const pattern_item item : items(one).subspan(1)) word.push_back(ranks[item]);
            std::sort(word.begin(), word.end());
            words.emplace_back(std::move(word), one);
        }
        std::sort(words.begin(), words.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        for (std::size_t k = 0; k < words.size(); ++k) piles[i][k] = words[k].second;
    });
    return piles;
}

}  // namespace

mining_summary mine_fp_growth(const spade_windows& windows, const pattern_mining_options& options,
                              const block_taker& take, const execution& run) {
    mining_summary summary{.ran_on = spade_strategy::fp_growth};
    const std::vector<pattern_table> tables = collect(windows, options, run);
    if (run.ranks && run.ranks->rank() != 0) return summary;
    const auto piles =
        ordered(tables, select(tables, windows, options, run, summary), windows, run);

    constexpr std::size_t block_patterns = std::size_t{1} << 16U;
    pattern_table block{.window_bins = windows.window_bins()};
    const auto hand_on = [&] {
        core::throw_if_stopped(run.stop);
        if (!block.empty()) take(block);
        block = {.window_bins = windows.window_bins()};
    };
    for (const std::vector<record>& pile : piles) {
        for (const record& one : pile) {
            const pattern_table& table = tables[one.table];
            block.append(table.pattern(one.row), table.counts[one.row],
                         options.with_occurrences ? table.occurrences_of(one.row)
                                                  : std::span<const std::uint32_t>{});
            if (block.size() == block_patterns) hand_on();
        }
    }
    hand_on();
    return summary;
}

}  // namespace spikeweave::spade
