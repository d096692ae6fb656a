// Latest-start mining level by level on devices. Each device owns a share of the frequent episodes
// and their survivor lists; what continues an episode is counted where its lists are. Only the join
// sees all episodes, and it needs no lists.
//
// Where the lists of a level do not fit, they are dropped, and the following levels are counted
// from the trains again, in pieces.

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/devices/device_set.hpp"
#include "mine/episodes/latest_start/cuda/device_share.hpp"
#include "mine/episodes/latest_start/cuda/time_split.hpp"
#include "mine/episodes/latest_start/memory_limit.hpp"
#include "parallel/parallel_for.hpp"

namespace spikeweave::episodes {
namespace {

class latest_start_on_devices final : public level_counter {
public:
    latest_start_on_devices(std::span<const device_problem> devices, const level_rules& rules)
        : problem_(devices.front()), rules_(rules), limit_(rules.max_memory_bytes) {
        // Each prepares its device, all at once.
        std::vector<std::future<std::unique_ptr<device_share>>> made;
        made.reserve(devices.size());
        for (const device_problem& d : devices) {
            limit_.add(bytes_a_spike * d.spikes.size());
            made.push_back(std::async(std::launch::async, [&d, this] {
                return std::make_unique<device_share>(d, rules_);
            }));
        }
        shares_.reserve(devices.size());
        for (auto& share : made) shares_.push_back(share.get());
        estimated_bytes_ = bytes_a_spike * problem_.spikes.size() * devices.size();
    }

    mined_level pairs(std::span<const unit_id> units, bool last) override;
    mined_level extend(const mined_level& previous, bool last) override;
    pair_method pairs_by() const override { return method_; }
    std::uint64_t estimated_bytes() const override { return estimated_bytes_; }

private:
    // Events, trains and search tables on the device.
    static constexpr std::uint64_t bytes_a_spike = 18;

    // Calls `work(share, number)` for all shares at once.
    template <class Work>
    void on_all(const Work& work) {
        parallel::on_own_threads(shares_.size(), [&](std::size_t i) { work(*shares_[i], i); });
    }
    pair_method chosen_method(std::span<const unit_id> units) const;
    void finish(mined_level& level);

    counting_problem problem_;
    level_rules rules_;
    memory_limit limit_;
    std::vector<std::unique_ptr<device_share>> shares_;
    pair_method method_ = pair_method::automatic;
    std::uint64_t estimated_bytes_ = 0;
    std::vector<double> kernel_seconds_before_{};
};

// Borders between shares of about the same cost.
std::vector<std::size_t> balanced(const std::vector<double>& costs, std::size_t shares) {
    const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
    std::vector<std::size_t> borders{0};
    double sum = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
        sum += costs[i];
        while (borders.size() < shares &&
               sum >= all * static_cast<double>(borders.size()) / static_cast<double>(shares))
            borders.push_back(i + 1);
    }
    borders.resize(shares + 1, costs.size());
    borders.back() = costs.size();
    return borders;
}

// Pairs of spikes no further apart than the widest interval, from a sample of spikes.
double seen_within_widest(const counting_problem& problem) {
    std::int64_t widest = 0;
    for (const interval_us& i : problem.intervals) widest = std::max(widest, i.high);
    const auto times = problem.spikes.times_us();
    constexpr std::size_t sample = 1024;
    const std::size_t step = std::max<std::size_t>(1, times.size() / sample);
    double seen = 0;
    std::size_t looked_at = 0;
    for (std::size_t i = 0; i < times.size(); i += step, ++looked_at) {
        const auto begin = times.begin();
        const auto here = begin + static_cast<std::ptrdiff_t>(i);
        const auto far = std::lower_bound(
            begin, here, *here, [&](std::int64_t t, std::int64_t now) { return now - t > widest; });
        seen += static_cast<double>(here - far);
    }
    return looked_at == 0
               ? 0
               : seen * static_cast<double>(times.size()) / static_cast<double>(looked_at);
}

pair_method latest_start_on_devices::chosen_method(std::span<const unit_id> units) const {
    if (rules_.pairs != pair_method::automatic) return rules_.pairs;
    const double slices =
        static_cast<double>(units.size()) * static_cast<double>(problem_.intervals.size());
    // A sweep has a warp for each target and interval; a card wants some thousand of them.
    constexpr double wanted_warps = 4000;
    // Steps of equal cost: 32 spikes that are looked at for one that looks, at least one such step.
    const double looks = static_cast<double>(problem_.spikes.size()) *
                         static_cast<double>(problem_.intervals.size());
    const double look_back = (looks * 32 + seen_within_widest(problem_)) *
                             std::max(1.0, wanted_warps / std::max(1.0, slices));
    const double merge = static_cast<double>(problem_.spikes.size()) * slices;
    return look_back < merge ? pair_method::look_back : pair_method::merge;
}

void latest_start_on_devices::finish(mined_level& level) {
    kernel_seconds_before_.resize(shares_.size());
    for (std::size_t i = 0; i < shares_.size(); ++i) {
        const double seconds = shares_[i]->kernel_seconds();
        level.kernel_seconds = std::max(level.kernel_seconds, seconds - kernel_seconds_before_[i]);
        kernel_seconds_before_[i] = seconds;
        level.survivor_bytes += shares_[i]->list_bytes();
    }
}

mined_level latest_start_on_devices::pairs(std::span<const unit_id> units, bool /*last*/) {
    method_ = chosen_method(units);
    const auto begins = shares_.front()->train_begins();
    std::vector<double> costs;
    costs.reserve(units.size());
    for (const unit_id unit : units)
        costs.push_back(static_cast<double>(begins[to_index(unit) + 1] - begins[to_index(unit)]));
    const std::vector<std::size_t> borders = balanced(costs, shares_.size());
    std::vector<std::vector<counted_pair>> found(shares_.size());
    on_all([&](device_share& share, std::size_t i) {
        found[i] = share.pairs(method_, units, borders[i], borders[i + 1]);
    });
    std::vector<counted_pair> all;
    for (const auto& some : found) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end(), [](const counted_pair& a, const counted_pair& b) {
        return std::array{a.from, a.delay, a.to} < std::array{b.from, b.delay, b.to};
    });

    mined_level level;
    level.frequent.size = 2;
    level.frequent.units.reserve(2 * all.size());
    level.frequent.delays.reserve(all.size());
    level.counts.reserve(all.size());
    for (const counted_pair& pair : all) {
        level.frequent.append(std::array{units[pair.from], units[pair.to]}, std::array{pair.delay});
        level.counts.push_back(pair.count);
    }
    const std::uint64_t partners = rules_.self_repeats ? units.size() : units.size() - 1;
    level.candidates = units.size() * partners * problem_.intervals.size();
    finish(level);
    return level;
}

mined_level latest_start_on_devices::extend(const mined_level& previous, bool last) {
    const candidate_set& parents = previous.frequent;
    if (parents.size == 2) {
        // An episode costs what its continuations read.
        std::vector<double> costs(parents.count());
        for (std::size_t i = 0; i < costs.size(); ++i) {
            const auto [begin, end] = continuations(parents, i);
            costs[i] =
                static_cast<double>(previous.counts[i]) * static_cast<double>(end - begin + 1);
        }
        const std::vector<std::size_t> borders = balanced(costs, shares_.size());
        on_all([&](device_share& share, std::size_t i) {
            share.keep_pairs(parents, borders[i], borders[i + 1], limit_);
        });
        std::uint64_t lists = 0;
        for (const auto& share : shares_) lists += share->list_bytes();
        estimated_bytes_ += 2 * lists;
    }
    std::vector<found_episodes> found(shares_.size());
    on_all([&](device_share& share, std::size_t i) {
        found[i] = share.extend(parents, last, limit_);
    });
    found_episodes all{candidate_set{parents.size + 1}};
    for (std::size_t i = 0; i < shares_.size(); ++i) {
        shares_[i]->number_episodes(all.counts.size());
        all.take(std::move(found[i]));
    }
    mined_level level{std::move(all.frequent), std::move(all.counts), all.candidates, 0, 0};
    finish(level);
    return level;
}

}  // namespace

std::unique_ptr<level_counter> levels_of_latest_start_on_devices(
    std::span<const device_problem> devices, const level_rules& rules) {
    if (devices.front().split == device_split::time || needs_segments(devices.front())) {
        const device_problem& first = devices.front();
        return levels_of_lists(
            first, rules,
            [devices](const candidate_set& candidates, std::uint64_t at_least) {
                return count_on_devices(devices, count_by_latest_start_on_device, candidates,
                                        at_least);
            },
            true);
    }
    return std::make_unique<latest_start_on_devices>(devices, rules);
}

}  // namespace spikeweave::episodes
