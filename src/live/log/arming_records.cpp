#include "live/log/records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "live/log/header.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {

recorded_arming record_of(const arming_change& change, std::int64_t input,
                          const std::vector<std::string>& names_as_json) {
    recorded_arming row{.input = input,
                        .epoch = static_cast<std::int64_t>(change.from.epoch),
                        .from_us = change.from.time_us,
                        .window_epoch = static_cast<std::int64_t>(change.due.epoch),
                        .window = change.window,
                        .due_us = change.due.time_us,
                        .is_late = change.is_late,
                        .armed = "[",
                        .disarmed = fmt::format("[{}]", fmt::join(change.disarmed, ",")),
                        .refused = "["};
    for (const auto& [number, what, per_minute] : change.armed)
        fmt::format_to(std::back_inserter(row.armed), "{}[{},{},{}]",
                       row.armed.size() > 1 ? "," : "", number, per_minute,
                       json_of(what, names_as_json));
    for (const auto& [what, per_minute, by_chance] : change.refused)
        fmt::format_to(std::back_inserter(row.refused), "{}[{},{},{}]",
                       row.refused.size() > 1 ? "," : "", by_chance, per_minute,
                       json_of(what, names_as_json));
    row.armed += ']';
    row.refused += ']';
    return row;
}

arming_change change_of(const recorded_arming& row, std::uint64_t number,
                        const std::vector<std::string>& unit_names) {
    arming_change change{.number = number,
                         .window = row.window,
                         .due = {static_cast<std::uint64_t>(row.window_epoch), row.due_us},
                         .from = row.from(),
                         .is_late = row.is_late};
    try {
        using nlohmann::json;
        for (const json& one : json::parse(row.armed))
            change.armed.push_back({one.at(0).get<std::size_t>(),
                                    episode_of(one.at(2).dump(), unit_names),
                                    one.at(1).get<double>()});
        for (const json& one : json::parse(row.disarmed))
            change.disarmed.push_back(one.get<std::size_t>());
        for (const json& one : json::parse(row.refused))
            change.refused.push_back({episode_of(one.at(2).dump(), unit_names),
                                      one.at(1).get<double>(), one.at(0).get<bool>()});
    } catch (const nlohmann::json::exception&) {
        throw invalid_argument("found damaged JSON");
    }
    return change;
}

}  // namespace spikeweave::live
