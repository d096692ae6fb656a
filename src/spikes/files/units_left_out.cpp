#include "spikeweave/spikes/units_left_out.hpp"

#include <fmt/format.h>

#include "core/text.hpp"
#include "spikes/wells.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

std::string label_reason(std::string_view label) {
    return fmt::format("it is labelled {}, which `labels` leaves out", label);
}

reasons_left_out units_left_out(const spike_file& file) {
    reasons_left_out out;
    for (const auto& [unit, label] : file.left_out_by_label) out.emplace(unit, label_reason(label));
    for (const dropped_unit& unit : file.dropped)
        out.emplace(
            unit.name,
            fmt::format("it repeats unit {}, as `drop_duplicates_of_units` found", unit.repeated));
    for (const unit_left_out& unit : file.left_out.noisy)
        out.emplace(unit.name, fmt::format("its signal-to-noise ratio is {:.3g}, below `min_snr`",
                                           unit.value));
    for (const unit_left_out& unit : file.left_out.fast)
        out.emplace(unit.name, fmt::format("it fires at {:.3g} Hz, above `max_rate`", unit.value));
    for (const std::string& group : file.empty_groups)
        out.emplace(group, "all units of this group were left out");
    // A group may have the name of a unit that was left out.
    for (const std::string& name : file.spikes.unit_names()) out.erase(name);
    return out;
}

chosen_units choose_units(const spike_file& file, std::span<const std::string> names) {
    const reasons_left_out left_out = units_left_out(file);
    std::vector<std::string> kept;
    std::vector<std::string> missing;
    kept.reserve(names.size());
    for (const std::string& name : spikes::with_units_of_wells(file.spikes.unit_names(), names)) {
        const auto found = left_out.find(name);
        if (found == left_out.end())
            kept.push_back(name);
        else
            missing.push_back(fmt::format("{} ({})", name, found->second));
    }
    chosen_units out;
    if (!missing.empty()) {
        const std::string listed = core::listed(missing);
        if (kept.empty())
            throw invalid_argument("only_units", "each of these units was left out: " + listed);
        out.warnings.push_back("Of `only_units`, these were left out: " + listed + ".");
    }
    out.spikes = select_units(file.spikes, kept);
    return out;
}

void check_not_left_out(const reasons_left_out& left_out, std::span<const std::string> names) {
    for (const std::string& name : names)
        if (const auto found = left_out.find(name); found != left_out.end())
            throw invalid_argument(
                fmt::format("the unit {} is needed, and was left out: {}", name, found->second));
}

}  // namespace spikeweave
