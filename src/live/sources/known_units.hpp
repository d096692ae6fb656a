#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "live/sources/source.hpp"

namespace spikeweave::live {

/// The units of a source that names the unit of each spike. Their number is bounded, because what
/// is received may be damaged.
class known_units {
public:
    static constexpr std::size_t most = std::size_t{1} << 16;

    /// @param names  of the units that are known before they appear
    explicit known_units(std::vector<std::string> names) : names_(std::move(names)) {
        for (std::size_t unit = 0; unit < names_.size(); ++unit)
            units_.emplace(names_[unit], unit_id{static_cast<std::uint32_t>(unit)});
    }

    const std::vector<std::string>& names() const { return names_; }

    /// The unit of this name; if it is new, the block tells of it. Null if there are too many.
    std::optional<unit_id> find_or_add(const std::string& name, source_block& block) {
        if (const auto known = units_.find(name); known != units_.end()) return known->second;
        if (names_.size() == most) return {};
        const unit_id unit{static_cast<std::uint32_t>(names_.size())};
        units_.emplace(name, unit);
        names_.push_back(name);
        block.new_units.push_back(name);
        return unit;
    }

private:
    std::vector<std::string> names_;
    std::unordered_map<std::string, unit_id> units_{};
};

}  // namespace spikeweave::live
