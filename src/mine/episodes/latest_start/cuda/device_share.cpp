#include "mine/episodes/latest_start/cuda/device_share.hpp"

#include <algorithm>
#include <future>
#include <numeric>
#include <utility>

namespace spikeweave::episodes {

// Continuations of one piece: of list `parent` of the piece by the last step of episode `by`.
struct device_share::joined_piece {
    std::vector<extension> jobs{};
    std::vector<std::size_t> by{};
    std::size_t next_parent = 0;  // where the next piece begins
};

bool device_share::keep(std::vector<kept_lists>& where, kept_lists&& lists, memory_limit& limit) {
    const std::uint64_t bytes = lists.lists.lists.bytes();
    std::uint64_t held = bytes + kept_bytes_;
    for (const kept_lists& l : where) held += l.lists.lists.bytes();
    if (held > worker_->capacity_bytes()) return false;
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
        const auto list = static_cast<std::uint32_t>(to_index(units[from]));
        for (std::size_t to = 0; to < units.size(); ++to) {
            if (from == to && !rules_.self_repeats) continue;
            for (std::uint32_t d = 0; d < intervals; ++d) {
                jobs.push_back({list, static_cast<std::uint32_t>(to_index(units[to])), d});
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
            const auto from = static_cast<std::uint32_t>(to_index(units[0]));
            jobs.push_back(
                {from, static_cast<std::uint32_t>(to_index(units[1])), frequent.delays_of(end)[0]});
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

device_share::joined_piece device_share::join(const candidate_set& parents, const kept_lists& lists,
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
                                  static_cast<std::uint32_t>(to_index(parents.units_of(j).back())),
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

}  // namespace spikeweave::episodes
