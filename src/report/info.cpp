#include "spikeweave/report/info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "report/run_json.hpp"
#include "report/text.hpp"
#include "report/unit_places.hpp"
#include "spikeweave/spikes/shared_spikes.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave {
namespace {

constexpr std::size_t line_width = 96;
// More units do not fit on a screen; the JSON document lists all.
constexpr std::size_t units_shown = 100;

struct unit_rate {
    std::string name{};
    std::size_t spikes = 0;
    double hertz = 0;
};

struct rates_of_file {
    std::vector<unit_rate> units{};
    double lowest = 0;
    double median = 0;
    double highest = 0;
    std::size_t tied = 0;
};

// Counts spikes that share their microsecond with a spike of another unit.
std::size_t tied_spikes(const spike_sequence& spikes) {
    const auto times = spikes.times_us();
    std::size_t tied = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        const bool before = i > 0 && times[i - 1] == times[i];
        const bool after = i + 1 < times.size() && times[i + 1] == times[i];
        if (before || after) ++tied;
    }
    return tied;
}

double median_of_sorted(const std::vector<double>& sorted) {
    const std::size_t n = sorted.size();
    return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

rates_of_file measure_rates(const spike_file& file) {
    rates_of_file found;
    const spike_trains trains(file.spikes);
    const double seconds = to_seconds(file.spikes.span().length());
    std::vector<double> rates;
    for (std::size_t i = 0; i < file.spikes.unit_count(); ++i) {
        const unit_id unit{static_cast<std::uint32_t>(i)};
        const std::size_t count = trains.count(unit);
        const double hertz = seconds > 0 ? static_cast<double>(count) / seconds : 0;
        found.units.push_back({file.spikes.name(unit), count, hertz});
        rates.push_back(hertz);
    }
    std::sort(rates.begin(), rates.end());
    if (!rates.empty()) {
        found.lowest = rates.front();
        found.median = median_of_sorted(rates);
        found.highest = rates.back();
    }
    found.tied = tied_spikes(file.spikes);
    return found;
}

// Lists all pairs of units that share spikes, of which warnings name only the first few.
report::json shared_spikes_of(const spike_sequence& spikes) {
    report::json pairs = report::json::array();
    for (const shared_spike_pair& pair : find_shared_spikes(spikes))
        pairs.push_back({{"unit", spikes.name(pair.fewer)},
                         {"other", spikes.name(pair.more)},
                         {"spikes", pair.fewer_spikes},
                         {"other_spikes", pair.more_spikes},
                         {"shared", pair.shared},
                         {"by_chance", pair.by_chance},
                         {"share", pair.share},
                         {"lag_s", to_seconds(pair.lag)},
                         {"spread_s", to_seconds(pair.spread)},
                         {"repeats", pair.repeats}});
    return pairs;
}

// "4 good, 2 mua"
std::string label_counts(const std::vector<std::string>& labels) {
    std::map<std::string_view, std::size_t> numbers;
    for (const std::string& label : labels) ++numbers[label];
    std::string text;
    for (const auto& [label, number] : numbers)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", core::grouped(number), label);
    return text;
}

// Shows names and rates in as many columns as fit.
std::string rate_table(const std::vector<unit_rate>& units) {
    const std::size_t shown = std::min(units.size(), units_shown);
    std::size_t name_width = 0;
    for (std::size_t i = 0; i < shown; ++i) name_width = std::max(name_width, units[i].name.size());
    const std::size_t column = name_width + 13;
    const std::size_t columns = std::max<std::size_t>(1, line_width / column);
    const std::size_t rows = (shown + columns - 1) / columns;
    std::string text = "rates in Hz\n";
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = row; i < shown; i += rows)
            text += fmt::format("  {:<{}} {:>8.2f}  ", units[i].name, name_width, units[i].hertz);
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    if (shown < units.size())
        text += fmt::format("  and {} more units (the JSON document lists all)\n",
                            units.size() - shown);
    return text;
}

// Shows "0.195 uV a count", or the smallest and largest gain if channels differ.
std::string gain_text(const recording& what) {
    const auto& channels = what.channels();
    const auto [least, most] =
        std::minmax_element(channels.begin(), channels.end(),
                            [](const recording_channel& a, const recording_channel& b) {
                                return a.gain_uv < b.gain_uv;
                            });
    if (least->gain_uv == most->gain_uv)
        return fmt::format("{} uV a count", report::shown_number(least->gain_uv, 4));
    return fmt::format("{} to {} uV a count", report::shown_number(least->gain_uv, 4),
                       report::shown_number(most->gain_uv, 4));
}

std::string probe_text(const recording& what) {
    const auto& channels = what.channels();
    double lowest[2] = {channels[0].x_um, channels[0].y_um};
    double highest[2] = {channels[0].x_um, channels[0].y_um};
    std::uint32_t shanks = 0;
    for (const recording_channel& channel : channels) {
        const double at[2] = {channel.x_um, channel.y_um};
        for (int axis = 0; axis < 2; ++axis) {
            lowest[axis] = std::min(lowest[axis], at[axis]);
            highest[axis] = std::max(highest[axis], at[axis]);
        }
        shanks = std::max(shanks, channel.shank + 1);
    }
    return fmt::format("{} by {} um, {} {}, positions: {}",
                       report::shown_number(highest[0] - lowest[0]),
                       report::shown_number(highest[1] - lowest[1]), shanks,
                       shanks == 1 ? "shank" : "shanks", to_string(what.description().positions));
}

}  // namespace

std::string summarize(const spike_file& file, const std::string& name) {
    const rates_of_file found = measure_rates(file);
    const time_span span = file.spikes.span();
    std::string text = fmt::format("file           {} ({})\n", name, to_string(file.format));
    text += fmt::format("spikes         {} of {} units\n", core::grouped(file.spikes.size()),
                        core::grouped(file.spikes.unit_count()));
    text += fmt::format("span           {} to {}, {} long\n", report::time_text(span.begin),
                        report::time_text(span.end), report::time_text(span.length()));
    text += fmt::format("unit rates     lowest {} Hz, median {} Hz, highest {} Hz\n",
                        report::shown_number(found.lowest), report::shown_number(found.median),
                        report::shown_number(found.highest));
    text += fmt::format("ties           {} spikes at the same microsecond as another unit's\n",
                        core::grouped(found.tied));
    text += fmt::format("duplicates     {} dropped\n", core::grouped(file.duplicates));
    text += fmt::format("out of order   {}\n", core::grouped(file.out_of_order));
    if (!file.dropped.empty())
        text += fmt::format("units dropped  {}, which repeat another\n", file.dropped.size());
    for (const std::string& what : warnings_of(file.left_out))
        text += fmt::format("left out       {}\n", what);
    if (!file.labels.empty()) text += fmt::format("labels         {}\n", label_counts(file.labels));
    if (file.groups > 0)
        text += fmt::format("groups         {}, {} spikes of which are not counted\n", file.groups,
                            core::grouped(file.merged));
    text += fmt::format("stimuli        {} markers\n", core::grouped(file.stimulus_us.size()));
    text += rate_table(found.units);
    for (const std::string& warning : file.warnings) text += fmt::format("warning: {}\n", warning);
    return text;
}

std::string to_json(const spike_file& file, const std::string& name) {
    const rates_of_file found = measure_rates(file);
    report::json units = report::json::array();
    for (const unit_rate& unit : found.units)
        units.push_back({{"name", unit.name}, {"spikes", unit.spikes}, {"rate_hz", unit.hertz}});
    for (std::size_t u = 0; u < file.labels.size(); ++u) units[u]["label"] = file.labels[u];
    const unit_places places = report::places_of(file.spikes, name);
    for (report::json& unit : units) {
        const auto place = places.find(unit.at("name").get<std::string>());
        if (place == places.end()) continue;
        unit["x_um"] = place->second.x_um;
        unit["y_um"] = place->second.y_um;
    }
    report::json dropped = report::json::array();
    for (const dropped_unit& unit : file.dropped)
        dropped.push_back({{"name", unit.name},
                           {"spikes", unit.spikes},
                           {"repeats", unit.repeated},
                           {"shared", unit.shared}});
    const report::json document = {
        {"file", name},
        {"format", std::string(to_string(file.format))},
        {"spikes", file.spikes.size()},
        {"unit_count", file.spikes.unit_count()},
        {"span_s", {to_seconds(file.spikes.span().begin), to_seconds(file.spikes.span().end)}},
        {"rate_hz",
         {{"lowest", found.lowest}, {"median", found.median}, {"highest", found.highest}}},
        {"tied_spikes", found.tied},
        {"duplicates_dropped", file.duplicates},
        {"out_of_order", file.out_of_order},
        {"stimulus_markers", file.stimulus_us.size()},
        {"warnings", file.warnings},
        {"shared_spikes", shared_spikes_of(file.spikes)},
        {"units_dropped", dropped},
        {"left_out", warnings_of(file.left_out)},
        {"groups", file.groups},
        {"spikes_merged", file.merged},
        {"units", units},
    };
    return report::text_of(document);
}

std::string summarize(const recording& what, std::span<const std::string> faults) {
    const recording_description& about = what.description();
    std::string text =
        fmt::format("file           {} ({})\n", about.path.string(), to_string(about.format));
    text +=
        fmt::format("recording      {} channels, {} samples a second each\n",
                    core::grouped(what.channel_count()), report::shown_number(what.rate_hz(), 4));
    text += fmt::format("length         {} samples, {}\n", core::grouped(what.frame_count()),
                        report::time_text(what.length()));
    if (about.begin != duration{0})
        text += fmt::format("begins at      {} of its own clock\n", report::time_text(about.begin));
    text += fmt::format("gain           {}\n", gain_text(what));
    text += fmt::format("probe          {}\n", probe_text(what));
    for (const auto& all : {std::span<const std::string>(about.warnings), faults})
        for (const std::string& warning : all) text += fmt::format("warning: {}\n", warning);
    return text;
}

std::string to_json(const recording& what, std::span<const std::string> faults) {
    const recording_description& about = what.description();
    std::vector<std::string> warnings = about.warnings;
    warnings.insert(warnings.end(), faults.begin(), faults.end());
    const report::json document = {
        {"file", about.path.string()},
        {"format", std::string(to_string(about.format))},
        {"sample_rate_hz", what.rate_hz()},
        {"samples", what.frame_count()},
        {"length_s", to_seconds(what.length())},
        {"begin_s", to_seconds(about.begin)},
        {"channel_count", what.channel_count()},
        {"positions", std::string(to_string(about.positions))},
        {"warnings", warnings},
        {"channels", report::list_of(what.channels())},
    };
    return report::text_of(document);
}

std::string summarize_dropped(const spike_file& file) {
    std::string text;
    if (file.duplicates > 0)
        text += fmt::format("dropped {} exact duplicates\n", core::grouped(file.duplicates));
    for (const dropped_unit& unit : file.dropped)
        text +=
            fmt::format("dropped unit {}: {} of its {} spikes repeat those of unit {}\n", unit.name,
                        core::grouped(unit.shared), core::grouped(unit.spikes), unit.repeated);
    for (const std::string& what : warnings_of(file.left_out)) text += what + '\n';
    if (!file.stimulus_us.empty())
        text += fmt::format("dropped {} stimulus markers, which are no unit\n",
                            core::grouped(file.stimulus_us.size()));
    if (file.out_of_order > 0)
        text += fmt::format("sorted {} spikes that were out of order\n",
                            core::grouped(file.out_of_order));
    return text;
}

}  // namespace spikeweave
