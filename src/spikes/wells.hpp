#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.hpp"

namespace spikeweave::spikes {

/// The well in the name of an electrode of a plate, as those of 12 to 96 wells have them: B1 of
/// B1_11. Empty for any other name.
inline std::string_view well_of(std::string_view name) {
    const std::size_t bar = name.find('_');
    if (bar == std::string_view::npos || bar < 2 || bar > 3 || name.size() != bar + 3) return {};
    if (name[0] < 'A' || name[0] > 'H' || name[1] < '1' || !core::is_digit(name[1])) return {};
    const bool has_column = bar == 2 || (name[1] == '1' && name[2] >= '0' && name[2] <= '2');
    const auto is_place = [](char c) { return c >= '1' && c <= '8'; };
    if (!has_column || !is_place(name[bar + 1]) || !is_place(name[bar + 2])) return {};
    return name.substr(0, bar);
}

/// The names, in which those of wells are replaced by the names of the units in them.
inline std::vector<std::string> with_units_of_wells(const std::vector<std::string>& units,
                                                    std::span<const std::string> names) {
    std::vector<std::string> out;
    for (const std::string& name : names) {
        const bool is_unit = std::ranges::count(units, name) > 0;
        bool is_well = false;
        const auto add = [&out](const std::string& one) {
            if (std::ranges::count(out, one) == 0) out.push_back(one);
        };
        for (const std::string& unit : units) {
            if (is_unit || well_of(unit) != name) continue;
            add(unit);
            is_well = true;
        }
        if (!is_well) add(name);
    }
    return out;
}

}  // namespace spikeweave::spikes
