#include "spikeweave/spikes/spike_trains.hpp"

#include "spikeweave/spikes/spike_blocks.hpp"

namespace spikeweave {

spike_trains::spike_trains(const spike_sequence& sequence)
    : offsets_(sequence.unit_count() + 1), times_us_(sequence.size()), positions_(sequence.size()) {
    for (const unit_id unit : sequence.units()) ++offsets_[to_index(unit) + 1];
    for (std::size_t u = 1; u < offsets_.size(); ++u) offsets_[u] += offsets_[u - 1];
    std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
    for (std::size_t i = 0; i < sequence.size(); ++i) {
        const std::size_t at = next[to_index(sequence.units()[i])]++;
        times_us_[at] = sequence.times_us()[i];
        positions_[at] = static_cast<std::uint32_t>(i);
    }
}

spike_blocks::~spike_blocks() = default;

}  // namespace spikeweave
