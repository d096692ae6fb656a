// Latest-start mining level by level on devices. Each device owns a share of the frequent episodes
// and their survivor lists; what continues an episode is counted where its lists are. Only the join
// sees all episodes, and it needs no lists.
//
// Where the lists of a level do not fit, they are dropped, and what follows is counted from the
// trains again, in pieces.

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "mine/episode/cuda/counters.hpp"
#include "mine/episode/cuda/device_set.hpp"
#include "mine/episode/cuda/latest_start_pairs.hpp"
#include "mine/episode/cuda/latest_start_worker.hpp"
#include "mine/episode/cuda/time_split.hpp"
#include "mine/episode/memory_limit.hpp"

namespace spikeweave::episodes {
namespace {

// Frequent continuations of a run of episodes, in order.
struct found_episodes {
    candidate_set frequent{};
    std::vector<std::uint64_t> counts{};
    std::uint64_t candidates = 0;

    void take(found_episodes&& other) {
        frequent.units.insert(frequent.units.end(), other.frequent.units.begin(),
                              other.frequent.units.end());
        frequent.delays.insert(frequent.delays.end(), other.frequent.delays.begin(),
                               other.frequent.delays.end());
        counts.insert(counts.end(), other.counts.begin(), other.counts.end());
        candidates += other.candidates;
    }
};

// Survivor lists of episodes [first, first + lists.count) of a level.
struct kept_lists {
    std::size_t first;
    known_lists lists;
};

// Continuations of one piece: of list `parent` of the piece by the last step of episode `by`.
struct joined_piece {
    std::vector<extension> jobs{};
    std::vector<std::size_t> by{};
    std::size_t next_parent = 0;  // where the next piece begins
};

// One device with its share of a level.
class device_share {
public:
    device_share(const device_problem& problem, const level_rules& rules) : rules_(rules) {
        const device::scoped_device scope(problem.ordinal);
        worker_ = std::make_unique<latest_start_worker>(problem);
    }
    ~device_share() {
        // Memory goes back to the device that it is of, unless that is gone.
        try {
            const device::scoped_device scope(worker_->problem().ordinal);
            kept_.clear();
            worker_.reset();
        } catch (...) {
            return;
        }
    }
    device_share(const device_share&) = delete;
    device_share(device_share&&) = delete;
    device_share& operator=(const device_share&) = delete;
    device_share& operator=(device_share&&) = delete;

    std::vector<counted_pair> pairs(pair_method method, std::span<const unit_id> units,
                                    std::size_t first, std::size_t last);
    void keep_pairs(const candidate_set& frequent, std::size_t first, std::size_t last,
                    memory_limit& limit);
    found_episodes extend(const candidate_set& parents, bool last, memory_limit& limit);

    /// After every share is extended: where its episodes stand in the new level.
    void number_episodes(std::size_t first) {
        first_ = first;
        for (kept_lists& lists : kept_) lists.first += first;
        last_ = first + found_;
    }
    std::size_t found() const { return found_; }
    std::uint64_t list_bytes() const { return kept_bytes_; }
    double kernel_seconds() const { return worker_->kernel_seconds(); }
    std::span<const std::uint64_t> train_begins() const { return worker_->train_begins(); }

private:
    std::vector<counted_pair> merge_pairs(std::span<const unit_id> units, std::size_t first,
                                          std::size_t last);
    joined_piece join(const candidate_set& parents, const kept_lists& lists,
                      std::size_t parent) const;
    found_episodes extend_lists_of(const candidate_set& parents, const kept_lists& lists, bool last,
                                   std::size_t found_before, std::vector<kept_lists>& next,
                                   memory_limit& limit);
    found_episodes extend_without_lists(const candidate_set& parents);
    found_episodes count_anew(const candidate_set& candidates);
    bool keep(std::vector<kept_lists>& where, kept_lists&& lists, memory_limit& limit);
    void drop(memory_limit& limit);
    std::uint64_t most_items() const { return worker_->room_bytes() / 4 / 8; }

    const level_rules& rules_;
    std::unique_ptr<latest_start_worker> worker_;
    std::vector<kept_lists> kept_;
    std::uint64_t kept_bytes_ = 0;
    bool without_lists_ = false;
    std::size_t first_ = 0;  // of its episodes, in the level
    std::size_t last_ = 0;
    std::size_t found_ = 0;
};

bool device_share::keep(std::vector<kept_lists>& where, kept_lists&& lists, memory_limit& limit) {
    const std::uint64_t bytes = lists.lists.lists.bytes();
    std::uint64_t held = bytes + kept_bytes_;
    for (const kept_lists& l : where) held += l.lists.lists.bytes();
    if (held > worker_->room_bytes()) return false;
    limit.add(bytes);
    where.push_back(std::move(lists));
    return true;
}

void device_share::drop(memory_limit& limit) {
    limit.remove(kept_bytes_);
    kept_.clear();
    kept_bytes_ = 0;
}

std::vector<counted_pair> device_share::pairs(pair_method method, std::span<const unit_id> units,
                                              std::size_t first, std::size_t last) {
    const device::scoped_device scope(worker_->problem().ordinal);
    if (method == pair_method::merge) return merge_pairs(units, first, last);
    std::vector<counted_pair> found = look_back_on_device(
        worker_->problem(), worker_->trains().intervals, units, first, last, rules_.threshold,
        worker_->limits(), worker_->stream(), worker_->kernel_seconds());
    if (!rules_.self_repeats)
        std::erase_if(found, [](const counted_pair& p) { return p.from == p.to; });
    return found;
}

// Counts the pairs that begin with units [first, last).
std::vector<counted_pair> device_share::merge_pairs(std::span<const unit_id> units,
                                                    std::size_t first, std::size_t last) {
    const auto begins = worker_->train_begins();
    const auto intervals = static_cast<std::uint32_t>(worker_->problem().intervals.size());
    std::vector<counted_pair> found;
    std::vector<extension> jobs;
    std::vector<counted_pair> named;
    std::uint64_t items = 0;
    const auto count_jobs = [&] {
        const known_lists lists = worker_->extended(worker_->train_lists(), begins, jobs, true);
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            named[i].count = lists.counts[i].count;
            if (named[i].count >= rules_.threshold) found.push_back(named[i]);
        }
        jobs.clear();
        named.clear();
        items = 0;
    };
    for (std::size_t from = first; from < last; ++from) {
        const auto list = static_cast<std::uint32_t>(index(units[from]));
        for (std::size_t to = 0; to < units.size(); ++to) {
            if (from == to && !rules_.self_repeats) continue;
            for (std::uint32_t d = 0; d < intervals; ++d) {
                jobs.push_back({list, static_cast<std::uint32_t>(index(units[to])), d});
                named.push_back(
                    {static_cast<std::uint32_t>(from), d, static_cast<std::uint32_t>(to), 0});
                items += begins[list + 1] - begins[list];
                if (items >= most_items()) count_jobs();
            }
        }
    }
    if (!jobs.empty()) count_jobs();
    return found;
}

void device_share::keep_pairs(const candidate_set& frequent, std::size_t first, std::size_t last,
                              memory_limit& limit) {
    first_ = first;
    last_ = last;
    const device::scoped_device scope(worker_->problem().ordinal);
    const auto begins = worker_->train_begins();
    std::vector<kept_lists> kept;
    for (std::size_t begin = first; begin < last;) {
        std::vector<extension> jobs;
        std::uint64_t items = 0;
        std::size_t end = begin;
        for (; end < last && (jobs.empty() || items < most_items()); ++end) {
            const auto units = frequent.units_of(end);
            const auto from = static_cast<std::uint32_t>(index(units[0]));
            jobs.push_back(
                {from, static_cast<std::uint32_t>(index(units[1])), frequent.delays_of(end)[0]});
            items += begins[from + 1] - begins[from];
        }
        known_lists lists = worker_->extended(worker_->train_lists(), begins, jobs, false);
        std::vector<std::uint32_t> all(jobs.size());
        std::iota(all.begin(), all.end(), 0U);
        known_lists exact{chosen_lists(lists.lists.view(), lists.begins, all, worker_->stream()),
                          std::move(lists.begins),
                          {}};
        if (!keep(kept, {begin, std::move(exact)}, limit)) {
            without_lists_ = true;
            for (const kept_lists& l : kept) limit.remove(l.lists.lists.bytes());
            return;
        }
        begin = end;
    }
    kept_ = std::move(kept);
    for (const kept_lists& l : kept_) kept_bytes_ += l.lists.lists.bytes();
}

joined_piece device_share::join(const candidate_set& parents, const kept_lists& lists,
                                std::size_t parent) const {
    joined_piece piece;
    std::uint64_t items = 0;
    constexpr std::size_t most_jobs = std::size_t{1} << 18;
    for (; parent < lists.lists.lists.count; ++parent) {
        const auto [begin, end] = continuations(parents, lists.first + parent);
        const std::uint64_t more = (end - begin) * lists.lists.size(parent);
        if (!piece.jobs.empty() &&
            (items + more > most_items() || piece.jobs.size() + (end - begin) > most_jobs))
            break;
        items += more;
        for (std::size_t j = begin; j < end; ++j) {
            piece.jobs.push_back({static_cast<std::uint32_t>(parent),
                                  static_cast<std::uint32_t>(index(parents.units_of(j).back())),
                                  parents.delays_of(j).back()});
            piece.by.push_back(j);
        }
    }
    piece.next_parent = parent;
    return piece;
}

// Counts one piece while the next is joined.
found_episodes device_share::extend_lists_of(const candidate_set& parents, const kept_lists& lists,
                                             bool last, std::size_t found_before,
                                             std::vector<kept_lists>& next, memory_limit& limit) {
    found_episodes found{candidate_set{parents.size + 1}};
    joined_piece piece = join(parents, lists, 0);
    while (!piece.jobs.empty()) {
        auto following = std::async(std::launch::async, [&parents, &lists, &piece, this] {
            return join(parents, lists, piece.next_parent);
        });
        known_lists here =
            worker_->extended(lists.lists.lists.view(), lists.lists.begins, piece.jobs, true);
        std::vector<std::uint32_t> frequent;
        const std::size_t first = found_before + found.counts.size();
        for (std::uint32_t i = 0; i < piece.jobs.size(); ++i) {
            if (here.counts[i].count < rules_.threshold) continue;
            append_join(found.frequent, parents, lists.first + piece.jobs[i].parent, piece.by[i]);
            found.counts.push_back(here.counts[i].count);
            frequent.push_back(i);
        }
        found.candidates += piece.jobs.size();
        if (!last && !without_lists_ && !frequent.empty()) {
            known_lists chosen{
                chosen_lists(here.lists.view(), here.begins, frequent, worker_->stream()), {0}, {}};
            for (const std::uint32_t i : frequent)
                chosen.begins.push_back(chosen.begins.back() + here.size(i));
            without_lists_ = !keep(next, {first, std::move(chosen)}, limit);
        }
        piece = following.get();
    }
    return found;
}

found_episodes device_share::extend(const candidate_set& parents, bool last, memory_limit& limit) {
    const device::scoped_device scope(worker_->problem().ordinal);
    found_episodes found{candidate_set{parents.size + 1}};
    if (without_lists_) {
        found = extend_without_lists(parents);
    } else {
        std::vector<kept_lists> next;
        for (const kept_lists& lists : kept_)
            found.take(extend_lists_of(parents, lists, last, found.counts.size(), next, limit));
        drop(limit);
        kept_ = std::move(next);
        for (const kept_lists& l : kept_) kept_bytes_ += l.lists.lists.bytes();
        if (without_lists_) drop(limit);
    }
    found_ = found.counts.size();
    return found;
}

found_episodes device_share::extend_without_lists(const candidate_set& parents) {
    constexpr std::size_t block = std::size_t{1} << 18;
    found_episodes found{candidate_set{parents.size + 1}};
    candidate_set candidates{parents.size + 1};
    for (std::size_t i = first_; i < last_; ++i) {
        const auto [begin, end] = continuations(parents, i);
        for (std::size_t j = begin; j < end; ++j) append_join(candidates, parents, i, j);
        if (candidates.count() < block) continue;
        found.take(count_anew(candidates));
        candidates.units.clear();
        candidates.delays.clear();
    }
    if (candidates.count() > 0) found.take(count_anew(candidates));
    return found;
}

found_episodes device_share::count_anew(const candidate_set& candidates) {
    const episode_trie trie(candidates);
    std::vector<std::uint64_t> leaves(trie.levels.back().size());
    worker_->count_leaves(trie, rules_.threshold, [&](std::size_t first, const known_lists& here) {
        for (std::size_t i = 0; i < here.counts.size(); ++i)
            leaves[first + i] = here.counts[i].count;
    });
    found_episodes found{candidate_set{candidates.size}};
    found.candidates = candidates.count();
    for (std::size_t c = 0; c < candidates.count(); ++c) {
        const std::uint64_t count = leaves[trie.leaf_of[c]];
        if (count < rules_.threshold) continue;
        found.frequent.append(candidates.units_of(c), candidates.delays_of(c));
        found.counts.push_back(count);
    }
    return found;
}

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

    mined_level pairs(std::span<const unit_id> units) override;
    mined_level extend(const mined_level& previous, bool last) override;
    pair_method pairs_by() const override { return method_; }
    std::uint64_t estimated_bytes() const override { return estimated_bytes_; }

private:
    // Events, trains and search tables on the device.
    static constexpr std::uint64_t bytes_a_spike = 18;

    // Calls `work(share, number)` for all shares at once.
    template <class Work>
    void on_all(const Work& work) {
        std::vector<std::future<void>> others;
        others.reserve(shares_.size());
        for (std::size_t i = 1; i < shares_.size(); ++i)
            others.push_back(
                std::async(std::launch::async, [&work, i, this] { work(*shares_[i], i); }));
        std::exception_ptr failure;
        const auto noting = [&failure](const auto& call) {
            try {
                call();
            } catch (...) {
                if (!failure) failure = std::current_exception();
            }
        };
        noting([&] { work(*shares_[0], 0); });
        for (auto& other : others) noting([&] { other.get(); });
        if (failure) std::rethrow_exception(failure);
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

mined_level latest_start_on_devices::pairs(std::span<const unit_id> units) {
    method_ = chosen_method(units);
    const auto begins = shares_.front()->train_begins();
    std::vector<double> costs;
    costs.reserve(units.size());
    for (const unit_id unit : units)
        costs.push_back(static_cast<double>(begins[index(unit) + 1] - begins[index(unit)]));
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
    if (devices.front().split == device_split::time || needs_stretches(devices.front())) {
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
