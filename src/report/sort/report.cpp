#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/result_folder.hpp"
#include "report/page_spikes.hpp"
#include "report/result_files.hpp"
#include "report/sort/view.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/report/sort.hpp"
#include "spikeweave/sort/files.hpp"
#include "spikeweave/sort/phy.hpp"
#include "spikeweave/sort/quality.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave {

sorting_report report_of(sort_result result, const execution& run) {
    std::vector<std::uint32_t> peaks = peak_channels(result);
    sorting_report report{.sorted = std::move(result.sorted),
                          .units = std::move(result.units),
                          .search = std::move(result.search),
                          .clustered_spikes = result.clustered_spikes,
                          .decisions = std::move(result.decisions),
                          .fits = std::move(result.fits),
                          .features = result.features.feature_count(),
                          .masks_from = std::move(result.masks_from),
                          .features_per_channel = result.features_per_channel,
                          .channels = std::move(result.channels),
                          .waveforms = std::move(result.waveforms),
                          .peak_channels = std::move(peaks),
                          .motion = std::move(result.motion),
                          .raw = std::move(result.raw),
                          .raw_offset_bytes = result.raw_offset_bytes,
                          .kwik = std::move(result.kwik),
                          .phy_features = std::move(result.features),
                          .amplitudes = std::move(result.amplitudes),
                          .model = std::move(result.model),
                          .model_path = result.options.save_model,
                          .learned = std::move(result.learned),
                          .templates_path = result.options.save_templates};
    const bool is_recording = report.waveforms.group_count() > 0;
    report::record_result(
        report.run, result,
        is_recording ? describe(result.options) : describe_feature_sort(result.options),
        result.options.search.seed, run, result.options.run.threads, *result.options.run.devices);
    if (report.sorted.has_times()) report.run.duplicates = to_spikes(report.sorted).duplicates;
    return report;
}

namespace {

std::vector<unit_column> columns_of(const sorting_report& report) {
    std::vector<unit_column> out;
    each_figure([&](std::string_view name, auto member, std::string_view help) {
        unit_column made{
            std::string(name == "rate_hz" ? "firing_rate" : name), std::string(help), {}};
        made.values.reserve(report.units.size());
        for (const sorted_unit& unit : report.units)
            made.values.push_back(
                (unit.quality.*member).value_or(std::numeric_limits<double>::quiet_NaN()));
        out.push_back(std::move(made));
    });
    out.push_back(label_column("spikes.nwb", labels_of(report.units)));
    unit_column reasons{.name = "label_reason", .description = "why quality is what it is"};
    for (const sorted_unit& unit : report.units) reasons.texts.push_back(unit.verdict.reason);
    out.push_back(std::move(reasons));
    return out;
}

void write_phy_of(const std::filesystem::path& folder, const sorting_report& report,
                  const execution& run) {
    write_phy(folder,
              {.features = *report.phy_features,
               .sorted = report.sorted,
               .units = report.units,
               .features_per_channel = report.features_per_channel,
               .channels = report.channels,
               .waveforms = report.waveforms.group_count() > 0 ? &report.waveforms : nullptr,
               .raw = report.raw,
               .raw_offset_bytes = report.raw_offset_bytes},
              run);
}

// The files of the model and of the templates, under their temporary names.
struct model_files {
    std::optional<model_file> model{};
    std::optional<model_file> templates{};

    model_files(const sorting_report& report, bool overwrite) {
        if (report.model) model.emplace(report.model_path, *report.model, overwrite);
        if (report.learned) templates.emplace(report.templates_path, *report.learned, overwrite);
    }
    void commit() {
        if (model) model->commit();
        if (templates) templates->commit();
    }
};

}  // namespace

void write_report(const std::filesystem::path& folder, const sorting_report& report, bool overwrite,
                  const execution& run) {
    io::result_folder out(folder, overwrite, report::files_of(result_kind::sort));
    write_sorting(out.file("sorting.npz"), report.sorted);
    write_clusters(out.file("sorting.clu.1"), report.sorted, report.first_label);
    if (!report.sorted.samples.empty()) write_samples(out.file("sorting.res.1"), report.sorted);
    if (report.sorted.has_times()) {
        spike_sequence spikes = to_spikes(report.sorted).spikes;
        spikes.set_doubtful_pairs(doubtful_pairs_of(report.units));
        const auto archive = out.file("spikes.npz");
        write_units(archive, spikes,
                    std::vector<unit_column>{label_column(archive, labels_of(report.units))}, run);
        if (report.nwb) write_units(out.file("spikes.nwb"), spikes, columns_of(report), run);
        if (report.with_phy && report.phy_features) write_phy_of(out.file("phy"), report, run);
    }
    if (report.kwik && !report.sorted.samples.empty()) {
        const std::vector<unit_quality> quality = qualities_of(report.units);
        write_kwik(out.file("sorting.kwik"), {.sorted = report.sorted,
                                              .quality = quality,
                                              .features = report.kwik->features,
                                              .channel_group = report.kwik->channel_group,
                                              .channels = report.channels});
    }
    out.write("iterations.tsv", report::tsv_of(report::iterations_table(report)));
    if (!report.motion.empty())
        out.write("motion.tsv",
                  report::tsv_of(report::motion_table(report, report::table_use::file_only)));
    const report::sorting_details details = report::details_of(report);
    report::write_details(out.file("waveforms.npz"), details);
    report::write_result(
        out, report::document_of(report, details),
        report.with_page && report.sorted.labels.size() <= report::most_spikes_of_a_page, run);
    model_files models(report, overwrite);
    out.commit(run.stop);
    // Earlier models belong to other units than those that the folder has now.
    try {
        models.commit();
    } catch (const io_error& error) {
        throw io_error(
            fmt::format("the folder {} was written, but {}", folder.string(), error.what()));
    }
}

void write_models(const sorting_report& report, bool overwrite) {
    model_files(report, overwrite).commit();
}

}  // namespace spikeweave

namespace spikeweave::report {
namespace {

// Points of amplitudes and depths: all units together, and at most and at least of one unit.
constexpr std::size_t most_points = 200'000;
constexpr std::size_t most_points_of_a_unit = 4'000;
constexpr std::size_t fewest_points_of_a_unit = 200;

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
    if (!report.motion.empty()) add(motion_table(report, table_use::document_only));
    if (!report.decisions.empty()) add(merges_table(report));
    return out;
}

}  // namespace spikeweave::report

namespace spikeweave {
namespace {

// Their numbers are those of a list.
report::json iterations_of(const sorting_report& report) {
    const report::result_table table = report::iterations_table(report);
    report::json list = report::json::array();
    for (std::size_t i = 0; i < table.size; ++i) {
        report::row values = table.at(i);
        values.erase(values.begin());
        list.push_back(report::json_of(values));
    }
    return list;
}

}  // namespace

std::uint64_t report::noise_spikes(const sorting_report& report) {
    return static_cast<std::uint64_t>(
        std::count(report.sorted.labels.begin(), report.sorted.labels.end(), 0U));
}

std::size_t report::unit_number(const sorting_report& report) {
    return static_cast<std::size_t>(
        std::count_if(report.units.begin(), report.units.end(),
                      [](const sorted_unit& one) { return one.spikes > 0; }));
}

report::json report::sorting_run(const sorting_report& report) {
    json more = json::array();
    for (const input_record& one : report.more_input) more.push_back(file_json(one));
    json out = run_json(report.run, verdict_of(report),
                        {{"more_files", more},
                         {"spikes", report.sorted.labels.size()},
                         {"features", report.features},
                         {"masks_from", report.masks_from},
                         {"has_samples", !report.sorted.samples.empty()},
                         {"sample_rate_hz", report.sorted.sample_rate}});
    const bool is_scored = !report.search.iterations.empty();
    const double spikes = static_cast<double>(std::max<std::uint64_t>(report.clustered_spikes, 1));
    out["sorting"] = {{"strategy", to_string(report.search.ran_on)},
                      {"stopped", to_string(report.search.stopped)},
                      {"iterations", report.search.iterations.size()},
                      {"units", unit_number(report)},
                      {"noise_spikes", noise_spikes(report)},
                      {"score", is_scored ? json(report.search.score()) : json(nullptr)},
                      {"seed_score", is_scored ? json(2 * report.search.score() - std::log(spikes))
                                               : json(nullptr)}};
    for (const incremental_fit& one : report.fits)
        out["sorting"]["fits"].push_back({{"spikes", one.spikes},
                                          {"reason", to_string(one.reason)},
                                          {"cost_before", one.cost_before},
                                          {"running_cost", one.running_cost},
                                          {"cost", one.cost},
                                          {"iterations", one.iterations},
                                          {"units", one.units}});
    return out;
}

std::string document_of(const sorting_report& report, const execution& run) {
    return report::whole_text(report::document_of(report, report::details_of(report)), run);
}

std::string to_json(const sorting_report& report) {
    return report::text_of({{"run", report::sorting_run(report)},
                            {"units", report::rows_of(report::units_table(report))},
                            {"iterations", iterations_of(report)}});
}

}  // namespace spikeweave
