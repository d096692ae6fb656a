#include "published/state_machine/stamp_rings.hpp"

#include <algorithm>
#include <utility>

namespace spikeweave::episodes {
namespace {

constexpr std::uint32_t warp = 32;

class planner {
public:
    planner(std::span<const std::uint32_t> capacities, std::size_t nodes, std::uint64_t most_slots)
        : capacities_(capacities), nodes_(nodes), most_slots_(most_slots) {}

    std::vector<ring_chunk> plan() {
        const std::size_t candidates = capacities_.size() / nodes_;
        for (std::size_t c = 0; c < candidates; c += warp) {
            const std::size_t together = std::min<std::size_t>(warp, candidates - c);
            if (slots_of(c, together, warp) <= most_slots_) {
                add(c, together, warp);
                continue;
            }
            // Alone each needs only its own size, not that of the largest.
            for (std::size_t one = c; one < c + together; ++one) add(one, 1, 1);
        }
        close();
        return std::move(chunks_);
    }

private:
    std::uint32_t capacity(std::size_t first, std::size_t candidates, std::size_t node) const {
        std::uint32_t most = 1;
        for (std::size_t c = first; c < first + candidates; ++c)
            most = std::max(most, capacities_[c * nodes_ + node]);
        return most;
    }
    std::uint64_t slots_of(std::size_t first, std::size_t candidates, std::uint32_t lanes) const {
        std::uint64_t slots = 0;
        for (std::size_t k = 0; k < nodes_; ++k)
            slots += std::uint64_t{capacity(first, candidates, k)} * lanes;
        return slots;
    }
    void close() {
        if (open_.candidates > 0) chunks_.push_back(std::move(open_));
        open_ = {};
    }
    void add(std::size_t first, std::size_t candidates, std::uint32_t lanes) {
        if (open_.candidates > 0 &&
            (open_.lanes != lanes ||
             open_.slots + slots_of(first, candidates, lanes) > most_slots_))
            close();
        if (open_.candidates == 0) open_ = {first, 0, lanes};
        for (std::size_t k = 0; k < nodes_; ++k) {
            const std::uint32_t most = capacity(first, candidates, k);
            open_.rings.push_back({open_.slots, most});
            open_.slots += std::uint64_t{most} * lanes;
        }
        open_.candidates += candidates;
    }

    std::span<const std::uint32_t> capacities_;
    std::size_t nodes_;
    std::uint64_t most_slots_;
    ring_chunk open_{};
    std::vector<ring_chunk> chunks_{};
};

}  // namespace

std::vector<ring_chunk> plan_rings(std::span<const std::uint32_t> capacities, std::size_t nodes,
                                   std::uint64_t most_slots) {
    return planner(capacities, nodes, most_slots).plan();
}

}  // namespace spikeweave::episodes
