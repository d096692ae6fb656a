#include "spikeweave/spikes/unit_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "io/file_error.hpp"
#include "io/line_blocks.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

constexpr std::string_view group_blanks = " \r";  // a tab separates

// The name under which each unit continues.
std::vector<std::string_view> new_names(const spike_sequence& spikes, const unit_groups& groups) {
    std::vector<std::string_view> names(spikes.unit_names().begin(), spikes.unit_names().end());
    for (const auto& [unit, group] : groups) names[to_index(spikes.unit(unit))] = group;
    for (const std::string& name : spikes.unit_names())
        if (!groups.contains(name) && std::ranges::count(names, name) > 1)
            throw invalid_argument(fmt::format(
                "a group is called {}, as is a unit that is in no group: name it differently",
                name));
    return names;
}

std::string without(std::string_view group, std::span<const std::string> units, bool is_empty) {
    const bool one = units.size() == 1;
    if (is_empty)
        return fmt::format("There is no group {}: {} was left out.", group,
                           one ? "its unit" : "each of its units");
    return fmt::format("The group {} is without unit{} {}, which {} left out.", group,
                       one ? "" : "s", core::listed(units), one ? "was" : "were");
}

// A group may be what one of its units may be; two units of one group are one.
std::vector<doubtful_pair> pairs_of_groups(std::span<const doubtful_pair> pairs,
                                           const unit_groups& groups) {
    const auto name_of = [&](const std::string& unit) {
        const auto group = groups.find(unit);
        return group == groups.end() ? unit : group->second;
    };
    std::vector<doubtful_pair> out;
    for (const doubtful_pair& pair : pairs) {
        out.push_back({name_of(pair.one), name_of(pair.other), pair.why});
        if (out.back().one == out.back().other) out.pop_back();
    }
    return out;
}

}  // namespace

grouped_spikes group_units(const spike_sequence& spikes, const unit_groups& groups,
                           duration window) {
    if (window.count() < 0)
        throw invalid_argument(
            "group_window", fmt::format("found {}, expected at least 0", format_duration(window)));
    const std::vector<std::string_view> names = new_names(spikes, groups);
    grouped_spikes out;
    spike_sequence_builder builder;
    std::vector<unit_id> unit_of;
    unit_of.reserve(names.size());
    for (const std::string_view name : names) unit_of.push_back(builder.unit(name));
    std::vector<bool> is_grouped;
    is_grouped.reserve(names.size());
    for (const std::string& name : spikes.unit_names()) is_grouped.push_back(groups.contains(name));
    std::vector<std::int64_t> last(names.size());
    std::vector<bool> has_fired(names.size());
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        const std::size_t from = to_index(spikes.units()[i]);
        const std::size_t to = to_index(unit_of[from]);
        const std::int64_t time = spikes.times_us()[i];
        if (is_grouped[from] && has_fired[to] && time - last[to] <= window.count()) {
            ++out.merged;
            continue;
        }
        has_fired[to] = true;
        last[to] = time;
        builder.append(time, unit_of[from]);
    }
    std::set<std::string_view> called;
    for (const auto& [unit, group] : groups) called.insert(group);
    out.groups = called.size();
    out.spikes = taken_from(spikes, builder.finish(spikes.span()));
    out.spikes.set_doubtful_pairs(pairs_of_groups(spikes.doubtful_pairs(), groups));
    return out;
}

remaining_groups without_units(const unit_groups& groups, std::span<const std::string> left_out) {
    remaining_groups out;
    std::map<std::string_view, std::vector<std::string>> missing;
    std::set<std::string_view> called;
    for (const auto& [unit, group] : groups) {
        if (std::ranges::find(left_out, unit) != left_out.end()) {
            missing[group].push_back(unit);
        } else {
            out.groups.emplace(unit, group);
            called.insert(group);
        }
    }
    constexpr std::size_t most_named = 5;
    for (const auto& [group, units] : missing) {
        const bool is_empty = !called.contains(group);
        if (is_empty) out.empty.emplace_back(group);
        if (out.warnings.size() < most_named)
            out.warnings.push_back(without(group, units, is_empty));
    }
    if (missing.size() > most_named)
        out.warnings.push_back(
            fmt::format("{} more groups lack units, too.", missing.size() - most_named));
    return out;
}

unit_groups read_unit_groups(const std::filesystem::path& path) {
    io::input_stream in(path);
    io::line_reader lines(in);
    unit_groups out;
    for (std::string_view line; lines.next(line);) {
        const std::string_view text = core::trimmed(line, group_blanks);
        if (text.empty() || text.starts_with('#')) continue;
        const auto fail = [&](std::string_view expected) {
            throw io::file_error(path, fmt::format("line {}", lines.line_number()),
                                 fmt::format("found {}, expected {}", io::shown(line), expected));
        };
        const std::size_t at = text.find_first_of("\t,");
        if (at == std::string_view::npos) fail("a unit and its group, separated by a tab or comma");
        const std::string_view unit = core::trimmed(text.substr(0, at), group_blanks);
        const std::string_view group = core::trimmed(text.substr(at + 1), group_blanks);
        if (unit == "unit" && group == "group" && out.empty()) continue;
        if (unit.empty() || group.empty() || group.find_first_of("\t,") != std::string_view::npos)
            fail("a unit and its group");
        if (!io::is_printable_utf8(unit) || !io::is_printable_utf8(group))
            fail("printable text in UTF-8");
        if (!out.emplace(unit, group).second) fail("each unit once");
    }
    if (out.empty())
        throw io::file_error(path, "found no unit, expected a unit and its group a line");
    return out;
}

}  // namespace spikeweave
