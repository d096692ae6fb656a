#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::spikes {

/// Units of binary files, which have numbers; a unit is named by its number. Small numbers, by far
/// the most frequent, are looked up in a table.
class integer_units {
public:
    explicit integer_units(spike_sequence_builder& builder) : builder_(&builder) {}

    unit_id find(std::int64_t number) {
        if (number >= 0 && number < direct) {
            const auto i = static_cast<std::size_t>(number);
            if (i >= table_.size()) table_.resize(i + 1, unknown);
            if (table_[i] == unknown) table_[i] = builder_->unit(std::to_string(number));
            return table_[i];
        }
        const auto [found, fresh] = others_.try_emplace(number);
        if (fresh) found->second = builder_->unit(std::to_string(number));
        return found->second;
    }

    /// Gives the unit of a number another name.
    void name(std::int64_t number, const std::string& name) {
        const unit_id unit = builder_->unit(name);
        if (number < 0 || number >= direct) {
            others_[number] = unit;
            return;
        }
        const auto i = static_cast<std::size_t>(number);
        if (i >= table_.size()) table_.resize(i + 1, unknown);
        table_[i] = unit;
    }

private:
    static constexpr std::int64_t direct = std::int64_t{1} << 16;
    static constexpr unit_id unknown{UINT32_MAX};

    spike_sequence_builder* builder_;
    std::vector<unit_id> table_;
    std::unordered_map<std::int64_t, unit_id> others_;
};

}  // namespace spikeweave::spikes
