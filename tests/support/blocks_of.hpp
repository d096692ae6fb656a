#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/spikes/spike_blocks.hpp"

/// The spikes of a sequence in blocks of the lengths that a function draws, with the units numbered
/// from the last to the first.
class blocks_of final : public spikeweave::spike_blocks {
public:
    blocks_of(const spikeweave::spike_sequence& spikes, std::function<std::size_t()> length)
        : spikes_(spikes),
          length_(std::move(length)),
          names_(spikes.unit_names().rbegin(), spikes.unit_names().rend()) {}

    void rewind() override { at_ = 0; }

    bool next(spikeweave::spike_block& block) override {
        block.clear();
        if (at_ == spikes_.size()) return false;
        const std::size_t end = std::min(spikes_.size(), at_ + length_());
        for (; at_ < end; ++at_) {
            const std::size_t unit = names_.size() - 1 - to_index(spikes_.units()[at_]);
            block.append(spikes_.times_us()[at_],
                         spikeweave::unit_id{static_cast<std::uint32_t>(unit)});
        }
        return true;
    }

    const std::vector<std::string>& unit_names() const override { return names_; }

private:
    const spikeweave::spike_sequence& spikes_;
    std::function<std::size_t()> length_;
    std::vector<std::string> names_;
    std::size_t at_ = 0;
};
