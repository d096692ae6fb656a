#include "report/sort/page_data.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "io/file_error.hpp"
#include "io/readable_file.hpp"
#include "report/page_spikes.hpp"
#include "report/page_tables.hpp"
#include "report/sort/parts.hpp"
#include "spikeweave/report/page.hpp"
#include "spikeweave/sort/files.hpp"

namespace spikeweave::report {
namespace {

// Points of amplitudes and depths: all units together, and at most and at least of one unit.
constexpr std::size_t most_points = 200'000;
constexpr std::size_t most_points_of_a_unit = 4'000;
constexpr std::size_t fewest_points_of_a_unit = 200;

std::string whole_text(const std::filesystem::path& path) {
    std::ifstream in = io::open_found(path);
    if (!in) throw io::file_error(path, "cannot be read");
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string text_if_there(const std::filesystem::path& path) {
    std::error_code unknown;
    return std::filesystem::exists(path, unknown) ? whole_text(path) : std::string();
}

json columns_of_text(const char* name, const std::string& text) {
    if (text.empty()) return nullptr;
    page_table rows(name, std::make_unique<std::istringstream>(text));
    return table_columns(rows);
}

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
json points_of(const sorting_page& page) {
    const sorting& sorted = page.sorted;
    const sorting_details& details = page.details;
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

void check_parts(const sorting_page& page) {
    const sorting_details& details = page.details;
    const std::size_t spikes = page.sorted.labels.size();
    const bool fits =
        fit_together(details) &&
        (details.amplitudes.empty() || details.amplitudes.size() == spikes) &&
        (details.depths_um.empty() || details.depths_um.size() == details.amplitudes.size());
    if (!fits) throw io::file_error("waveforms.npz", "its arrays do not fit those of sorting.npz");
}

json tables_of(json run, const std::string& units, const std::string& motion,
               const std::string& merges) {
    return {{"run", std::move(run)},
            {"quality", columns_of_text("units.tsv", units)},
            {"motion", columns_of_text("motion.tsv", motion)},
            {"merges", columns_of_text("merges.tsv", merges)}};
}

}  // namespace

sorting_page sorting_page_of(const sorting_report& report) {
    return {.tables = tables_of(sorting_run(report), units_tsv(report),
                                report.motion.empty() ? std::string() : motion_tsv(report),
                                report.decisions.empty() ? std::string() : merges_tsv(report)),
            .sorted = report.sorted,
            .details = details_of({report.sorted, report.channels, report.waveforms,
                                   report.phy_features ? &*report.phy_features : nullptr,
                                   report.features_per_channel, report.amplitudes})};
}

sorting_page read_sorting_page(const std::filesystem::path& folder, json run) {
    sorting_page page{.tables = tables_of(std::move(run), whole_text(folder / "units.tsv"),
                                          text_if_there(folder / "motion.tsv"),
                                          text_if_there(folder / "merges.tsv")),
                      .sorted = read_sorting(folder / "sorting.npz"),
                      .details = read_details(folder / "waveforms.npz")};
    page.sorted.sample_count = page.details.sample_count;
    page.sorted.unit_count = std::max(page.sorted.unit_count, page.details.unit_count);
    return page;
}

std::string sorting_page_data(const sorting_page& page, const execution& run) {
    check_parts(page);
    const spike_sequence spikes =
        page.sorted.has_times() ? to_spikes(page.sorted).spikes : spike_sequence{};
    core::throw_if_stopped(run.stop);
    json document{{"format", "spikeweave page"},
                  {"version", 1},
                  {"kind", "sort"},
                  {"recording",
                   {{"sample_rate_hz", page.sorted.has_times() ? page.sorted.sample_rate : 0},
                    {"samples", page.sorted.sample_count}}},
                  {"units", spikes.unit_names()},
                  {"spikes", page_spikes(spikes)},
                  {"channels", channels_of(page.details)},
                  {"waveforms", waveforms_of(page.details, page.sorted.sample_rate)},
                  {"points", points_of(page)}};
    document.update(page.tables);
    return page_text(document);
}

}  // namespace spikeweave::report

namespace spikeweave {

std::string page_data_of(const sort_result& result, std::string_view tables) {
    return report::sorting_page_data(
        {.tables = report::json::parse(tables),
         .sorted = result.sorted,
         .details =
             report::details_of({result.sorted, result.channels, result.waveforms, &result.features,
                                 result.features_per_channel, result.amplitudes})},
        {});
}

}  // namespace spikeweave
