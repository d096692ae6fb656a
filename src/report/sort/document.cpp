#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "report/page_spikes.hpp"
#include "report/sort/view.hpp"

namespace spikeweave::report {
namespace {

// Points of amplitudes and depths: all units together, and at most and at least of one unit.
constexpr std::size_t most_points = 200'000;
constexpr std::size_t most_points_of_a_unit = 4'000;
constexpr std::size_t fewest_points_of_a_unit = 200;

// Whole numbers of two bytes, the lower one first, and what they are multiples of.
json scaled(const std::vector<float>& items) {
    constexpr float largest = 32'767;
    float most = 0;
    for (const float item : items)
        if (std::isfinite(item)) most = std::max(most, std::abs(item));
    const float scale = most > 0 ? most / largest : 1;
    std::vector<std::uint8_t> bytes;
    bytes.reserve(2 * items.size());
    for (const float item : items) {
        const long value = std::isfinite(item) ? std::lround(item / scale) : 0;
        const auto held = static_cast<std::uint16_t>(static_cast<std::int16_t>(value));
        bytes.push_back(static_cast<std::uint8_t>(held & 0xFFU));
        bytes.push_back(static_cast<std::uint8_t>(held >> 8U));
    }
    return {{"scale", scale}, {"values", base64(bytes)}};
}

json channels_of(const sorting_details& details) {
    return {{"x_um", details.x_um}, {"y_um", details.y_um}, {"shank", details.shanks}};
}

json waveforms_of(const sorting_details& details, double rate) {
    if (details.mean.empty()) return nullptr;
    return {{"frames", details.frames},        {"before", details.before},
            {"sample_rate_hz", rate},          {"channels_per_unit", details.channels_per_unit},
            {"channels", details.channels},    {"averaged", details.averaged},
            {"mean_uv", scaled(details.mean)}, {"deviation_uv", scaled(details.deviation)}};
}

// The spikes of each unit in time order, noise at 0.
std::vector<std::vector<std::uint32_t>> spikes_by_unit(const sorting& sorted) {
    std::vector<std::uint32_t> order(sorted.labels.size());
    std::iota(order.begin(), order.end(), 0U);
    if (!std::ranges::is_sorted(sorted.samples))
        std::ranges::stable_sort(order, {}, [&](std::uint32_t n) { return sorted.samples[n]; });
    std::vector<std::vector<std::uint32_t>> units(std::size_t{sorted.unit_count} + 1);
    for (const std::uint32_t n : order) units[sorted.labels[n]].push_back(n);
    return units;
}

// Every unit has evenly spread spikes, so that a page of any recording remains small.
json points_of(const sorting& sorted, const sorting_details& details) {
    if (details.amplitudes.empty() || !sorted.has_times()) return nullptr;
    const auto units = spikes_by_unit(sorted);
    const std::size_t most = std::clamp(most_points / std::max<std::size_t>(sorted.unit_count, 1),
                                        fewest_points_of_a_unit, most_points_of_a_unit);
    json out{{"most", most}, {"amplitude_unit", details.in_microvolts ? "µV" : "norm of features"}};
    const double begin_s = to_seconds(sorted.begin);
    json list = json::array();
    for (std::size_t unit = 1; unit < units.size(); ++unit) {
        const std::size_t count = std::min(units[unit].size(), most);
        std::vector<std::int64_t> times;
        std::vector<float> amplitudes;
        std::vector<float> depths;
        for (std::size_t k = 0; k < count; ++k) {
            const std::uint32_t n = units[unit][k * units[unit].size() / count];
            times.push_back(std::llround(
                1e3 * (static_cast<double>(sorted.samples[n]) / sorted.sample_rate + begin_s)));
            amplitudes.push_back(details.amplitudes[n]);
            if (!details.depths_um.empty()) depths.push_back(details.depths_um[n]);
        }
        list.push_back({{"times_ms", base64(varints_of_steps(times))},
                        {"amplitudes", scaled(amplitudes)},
                        {"depths_um", scaled(depths)}});
    }
    out["units"] = std::move(list);
    return out;
}

}  // namespace

sorting_details details_of(const sorting_report& report) {
    return details_of({report.sorted, report.channels, report.waveforms,
                       report.phy_features ? &*report.phy_features : nullptr,
                       report.features_per_channel, report.amplitudes});
}

document document_of(const sorting_report& report, const sorting_details& details) {
    const sorting& sorted = report.sorted;
    const spike_sequence spikes = sorted.has_times() ? to_spikes(sorted).spikes : spike_sequence{};
    document out{.kind = "sort",
                 .run = sorting_run(report),
                 .unit_names = spikes.unit_names(),
                 .values = {{"recording",
                             {{"sample_rate_hz", sorted.has_times() ? sorted.sample_rate : 0},
                              {"samples", details.sample_count}}},
                            {"spikes", page_spikes(spikes)},
                            {"channels", channels_of(details)},
                            {"waveforms", waveforms_of(details, sorted.sample_rate)},
                            {"points", points_of(sorted, details)},
                            {"motion", nullptr},
                            {"merges", nullptr}},
                 .tables = {units_table(report)}};
    const auto add = [&](result_table table) {
        out.values.erase(table.name);
        out.tables.push_back(std::move(table));
    };
    if (!report.motion.empty()) add(motion_table(report));
    if (!report.decisions.empty()) add(merges_table(report));
    return out;
}

}  // namespace spikeweave::report
