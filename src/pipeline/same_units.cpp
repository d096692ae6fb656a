#include "pipeline/same_units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

#include "core/text.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::pipeline {

std::string names_text(std::span<const std::string> names) {
    constexpr std::size_t most_named = 12;
    if (names.empty()) return "no units";
    const auto named = names.first(std::min(most_named, names.size()));
    return fmt::format("{}{}", fmt::join(named, ", "), named.size() < names.size() ? ", …" : "");
}

std::string same_units::missing_text() const {
    return fmt::format("{} of {} units {} not in the other recording: {}",
                       core::grouped(missing.size()), core::grouped(places.size()),
                       missing.size() == 1 ? "is" : "are", names_text(missing));
}

same_units match_units(const std::vector<std::string>& recording,
                       const std::vector<std::string>& other) {
    std::map<std::string_view, unit_id> units;
    for (std::size_t u = 0; u < other.size(); ++u)
        units.emplace(other[u], unit_id{static_cast<std::uint32_t>(u)});
    same_units out;
    for (const std::string& name : recording) {
        const auto found = units.find(name);
        if (found == units.end()) {
            out.places.emplace_back();
            out.missing.push_back(name);
        } else {
            out.places.emplace_back(found->second);
        }
    }
    if (out.missing.size() == out.places.size())
        throw invalid_argument(fmt::format(
            "no unit is in both recordings: units are the same if they have the same name, and the "
            "first has {}, the other {}",
            names_text(recording), names_text(other)));
    return out;
}

void check_other_recording(const spike_sequence& recording, const spike_sequence& other) {
    std::map<std::string_view, unit_id> units;
    for (std::size_t u = 0; u < recording.unit_count(); ++u)
        units.emplace(recording.unit_names()[u], unit_id{static_cast<std::uint32_t>(u)});
    const auto times = recording.times_us();
    std::size_t at = 0;
    for (std::size_t i = 0; i < other.size(); ++i) {
        const auto unit = units.find(other.unit_names()[to_index(other.units()[i])]);
        if (unit == units.end()) return;
        const std::int64_t time = other.times_us()[i];
        while (at < times.size() && times[at] < time) ++at;
        std::size_t same = at;
        while (same < times.size() && times[same] == time &&
               recording.units()[same] != unit->second)
            ++same;
        if (same == times.size() || times[same] != time) return;
    }
    if (other.size() > 0)
        throw invalid_argument(
            "all spikes of the other recording are the same spikes as here, which would confirm "
            "any finding in them");
}

}  // namespace spikeweave::pipeline
