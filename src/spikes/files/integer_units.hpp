#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::spikes {

/// Units of binary files, which have numbers; a unit is named by its number. Small numbers, by far
/// the most frequent, are looked up in a table.
class integer_units {
public:
    explicit integer_units(spike_sequence_builder& builder)
        : integer_units([&builder](const std::string& name) { return builder.unit(name); }) {}
    /// @param unit  returns the unit of a name
    explicit integer_units(std::function<unit_id(const std::string&)> unit)
        : unit_(std::move(unit)) {}

    unit_id find(std::int64_t number) {
        if (number >= 0 && number < direct) {
            const auto i = static_cast<std::size_t>(number);
            if (i >= table_.size()) table_.resize(i + 1, unknown);
            if (table_[i] == unknown) table_[i] = unit_(std::to_string(number));
            return table_[i];
        }
        const auto [found, fresh] = others_.try_emplace(number);
        if (fresh) found->second = unit_(std::to_string(number));
        return found->second;
    }

    /// Gives the unit of a number another name.
    void name(std::int64_t number, const std::string& name) {
        const unit_id unit = unit_(name);
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

    std::function<unit_id(const std::string&)> unit_;
    std::vector<unit_id> table_;
    std::unordered_map<std::int64_t, unit_id> others_;
};

}  // namespace spikeweave::spikes
