#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spikeweave::spade {

/// Windows as paths from a root, the most frequent item first, so that windows share their
/// beginnings (Han et al. 2000, doi:10.1145/335191.335372). Items are ranks: 0 is the most
/// frequent. The header table lists, for each item of the tree, the nodes that hold it.
///
/// A projected tree keeps its memory for the next projection into it.
class fp_tree {
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    fp_tree() = default;
    /// @param rank_count  all ranks are below this
    explicit fp_tree(std::size_t rank_count);

    /// Adds a window. Windows share a common beginning only if they are added one after another.
    /// @param ranks  ascending
    void insert(std::span<const std::uint32_t> ranks, std::uint32_t count);

    /// Makes `into` the tree of the windows with entry `entry`. It contains the entries before it
    /// that are in at least `least` of these windows; those in all windows go to `in_all` instead.
    void project(std::size_t entry, std::uint32_t least, fp_tree& into,
                 std::vector<std::uint32_t>& in_all) const;

    /// The number of entries of the header table.
    std::size_t size() const { return ranks_.size(); }
    bool empty() const { return ranks_.empty(); }
    std::uint32_t rank(std::size_t entry) const { return ranks_[entry]; }
    std::uint32_t support(std::size_t entry) const { return supports_[entry]; }
    /// Whether there is no fork, so that each entry's windows are among those of the one before.
    bool is_path() const;

private:
    struct node {
        std::uint32_t entry = none;
        std::uint32_t parent = none;
        std::uint32_t count = 0;
        std::uint32_t next = none;  // the next node with the same item
    };

    // The child of `parent` with this item, which may be a new node.
    std::uint32_t add(std::uint32_t parent, std::uint32_t entry, std::uint32_t count);
    void clear();

    std::vector<std::uint32_t> ranks_;
    std::vector<std::uint32_t> supports_;
    std::vector<std::uint32_t> heads_;
    std::vector<node> nodes_{node{}};
    // Used while this tree is made from another.
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint32_t> new_entries_;
    std::vector<std::uint32_t> path_;
};

}  // namespace spikeweave::spade
