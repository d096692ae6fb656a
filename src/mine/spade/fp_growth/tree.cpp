#include "mine/spade/fp_growth/tree.hpp"

#include <numeric>

#include "mine/spade/fp_growth/checked_uint32.hpp"

namespace spikeweave::spade {

fp_tree::fp_tree(std::size_t rank_count)
    : ranks_(rank_count), supports_(rank_count, 0), heads_(rank_count, none) {
    std::iota(ranks_.begin(), ranks_.end(), 0U);
}

void fp_tree::insert(std::span<const std::uint32_t> ranks, std::uint32_t count) {
    std::uint32_t at = 0;
    for (const std::uint32_t rank : ranks) {
        supports_[rank] += count;
        at = add(at, rank, count);
    }
}

std::uint32_t fp_tree::add(std::uint32_t parent, std::uint32_t entry, std::uint32_t count) {
    // Only the newest node of the item is checked. A second node for the same beginning would cost
    // time, but never change the result.
    const std::uint32_t newest = heads_[entry];
    if (newest != none && nodes_[newest].parent == parent) {
        nodes_[newest].count += count;
        return newest;
    }
    heads_[entry] = checked_uint32(nodes_.size(), "nodes of a tree");
    nodes_.push_back({entry, parent, count, newest});
    return heads_[entry];
}

bool fp_tree::is_path() const {
    if (nodes_.size() != size() + 1) return false;
    for (std::uint32_t below = 1; below < nodes_.size(); ++below)
        if (nodes_[below].parent != below - 1) return false;
    return true;
}

void fp_tree::clear() {
    ranks_.clear();
    supports_.clear();
    heads_.clear();
    nodes_.resize(1);
}

void fp_tree::project(std::size_t entry, std::uint32_t least, fp_tree& into,
                      std::vector<std::uint32_t>& in_all) const {
    into.clear();
    std::vector<std::uint32_t>& counts = into.counts_;
    counts.assign(entry, 0);
    for (std::uint32_t place = heads_[entry]; place != none; place = nodes_[place].next)
        for (std::uint32_t at = nodes_[place].parent; at != 0; at = nodes_[at].parent)
            counts[nodes_[at].entry] += nodes_[place].count;

    into.new_entries_.assign(entry, none);
    for (std::size_t before = 0; before < entry; ++before) {
        if (counts[before] < least) continue;
        if (counts[before] == supports_[entry]) {
            in_all.push_back(ranks_[before]);
            continue;
        }
        into.new_entries_[before] = static_cast<std::uint32_t>(into.ranks_.size());
        into.ranks_.push_back(ranks_[before]);
        into.supports_.push_back(counts[before]);
    }
    if (into.empty()) return;
    into.heads_.assign(into.size(), none);
    for (std::uint32_t place = heads_[entry]; place != none; place = nodes_[place].next) {
        into.path_.clear();
        for (std::uint32_t at = nodes_[place].parent; at != 0; at = nodes_[at].parent)
            if (const std::uint32_t kept = into.new_entries_[nodes_[at].entry]; kept != none)
                into.path_.push_back(kept);
        std::uint32_t below = 0;
        for (auto kept = into.path_.rbegin(); kept != into.path_.rend(); ++kept)
            below = into.add(below, *kept, nodes_[place].count);
    }
}

}  // namespace spikeweave::spade
