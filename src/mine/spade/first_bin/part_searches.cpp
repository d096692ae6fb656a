#include "mine/spade/first_bin/part_searches.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "mine/spade/first_bin/closed_search.hpp"

namespace spikeweave::spade {
namespace {

// Collects the patterns that meet the rules.
class collecting : public wants_all_that_rules_take {
public:
    collecting(const item_index& items, const pattern_mining_options& options,
               const rule_set& rules)
        : wants_all_that_rules_take(rules), items_(items), options_(options) {}

    void drop(const found_pattern& /*found*/) {
        ++part.summary.closed;
        ++part.summary.window_subsets;
    }
    void take(const found_pattern& found) {
        const auto count = static_cast<std::uint32_t>(found.windows.size());
        ++part.summary.closed;
        if (options_.max_occ > 0 && count > options_.max_occ) {
            ++part.summary.too_frequent;
            return;
        }
        pattern_table& to = part.patterns;
        to.window_bins = items_.window_bins();
        for (const auto id : found.ids) to.items.push_back(items_.item(id));
        to.item_offsets.push_back(to.items.size());
        to.counts.push_back(count);
        if (options_.with_occurrences) take_occurrences(found, to);
        if (to.items.size() + to.occurrences.size() < looked_at_) return;
        grown_(part);
        looked_at_ = to.items.size() + to.occurrences.size() + looked_at_after;
    }

    // Begins another part, with the function to call when it has grown.
    void begin(part_taker grown) {
        grown_ = std::move(grown);
        looked_at_ = looked_at_after;
    }

    mined_part part{};

private:
    static constexpr std::size_t looked_at_after = std::size_t{1} << 16;  // numbers

    void take_occurrences(const found_pattern& found, pattern_table& to) const {
        for (const std::uint32_t window : found.windows)
            to.occurrences.push_back(items_.start(window));
        to.occurrence_offsets.push_back(to.occurrences.size());
    }

    const item_index& items_;
    const pattern_mining_options& options_;
    part_taker grown_{};
    std::size_t looked_at_ = 0;
};

}  // namespace

// One search for each working thread, with the patterns that it collects.
class part_searches::kept_searches {
public:
    kept_searches(const item_index& items, const preceding_spikes& before,
                  const pattern_mining_options& options, const rule_set& rules,
                  std::stop_token stop)
        : items_(items),
          before_(before),
          options_(options),
          rules_(rules),
          stop_(std::move(stop)) {}

    mined_part run(const search_task& task, const part_taker& grown) {
        std::unique_ptr<worker> one = take(task.root);
        one->goal.begin(grown);
        one->search.run(task.root, task.first, task.last);
        mined_part part = std::exchange(one->goal.part, {});
        const std::lock_guard lock(access_);
        idle_.push_back(std::move(one));
        return part;
    }

private:
    struct worker {
        worker(const kept_searches& all, const rule_set& rules)
            : goal(all.items_, all.options_, rules),
              search(all.items_, all.before_, goal, all.stop_) {}
        collecting goal;
        closed_search<collecting> search;
    };

    // Prefers a search that was at this root before.
    std::unique_ptr<worker> take(item_index::item_id root) {
        const std::lock_guard lock(access_);
        if (idle_.empty()) return std::make_unique<worker>(*this, rules_);
        const auto same = std::find_if(idle_.begin(), idle_.end(),
                                       [&](const auto& one) { return one->search.root() == root; });
        std::swap(same == idle_.end() ? idle_.back() : *same, idle_.back());
        std::unique_ptr<worker> one = std::move(idle_.back());
        idle_.pop_back();
        return one;
    }

    const item_index& items_;
    const preceding_spikes& before_;
    const pattern_mining_options& options_;
    const rule_set& rules_;
    std::stop_token stop_;
    std::mutex access_;
    std::vector<std::unique_ptr<worker>> idle_;
};

part_searches::part_searches(const item_index& items, const preceding_spikes& before,
                             const pattern_mining_options& options, const rule_set& rules,
                             std::stop_token stop)
    : kept_(std::make_unique<kept_searches>(items, before, options, rules, std::move(stop))) {}
part_searches::~part_searches() = default;

mined_part part_searches::run(const search_task& task, const part_taker& grown) {
    return kept_->run(task, grown);
}

}  // namespace spikeweave::spade
