#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "io/result_folder.hpp"
#include "report/page_spikes.hpp"
#include "report/result_files.hpp"
#include "report/sort/view.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/sort/files.hpp"
#include "spikeweave/sort/phy.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave {
namespace {

std::vector<unit_column> columns_of(const sorting_report& report) {
    using member = std::optional<double> unit_quality::*;
    struct described {
        const char* name;
        member from;
        const char* description;
    };
    constexpr std::array<described, 12> columns{{
        {"firing_rate", &unit_quality::rate_hz, "spikes a second"},
        {"l_ratio", &unit_quality::l_ratio, "L-ratio, Schmitzer-Torbert et al. 2005"},
        {"isolation_distance", &unit_quality::isolation_distance,
         "squared Mahalanobis distance at which there are as many other spikes as the unit has"},
        {"refractory_violations", &unit_quality::refractory_violations,
         "share of inter-spike intervals shorter than the refractory period"},
        {"contamination", &unit_quality::contamination,
         "estimated share of spikes of other neurons, Llobet et al. 2022"},
        {"snr", &unit_quality::snr, "height of the mean waveform over the noise of its channel"},
        {"presence_ratio", &unit_quality::presence_ratio,
         "share of the equal parts of the recording, at least ten, in which it has a spike"},
        {"firing_range", &unit_quality::firing_range,
         "difference of the 95th and 5th percentile of its rates in intervals of 10 s, in hertz"},
        {"amplitude_median", &unit_quality::amplitude_median,
         "median height of its spikes, in microvolts"},
        {"amplitude_cv", &unit_quality::amplitude_cv,
         "standard deviation of the heights of its spikes over their median"},
        {"amplitude_cutoff", &unit_quality::amplitude_cutoff,
         "estimated share of its spikes that were too small to be found"},
        {"separation", &unit_quality::separation,
         "distance of the two groups into which its spikes divide best, in standard deviations"},
    }};
    std::vector<unit_column> out;
    out.reserve(columns.size() + 2);
    for (const described& column : columns) {
        unit_column made{column.name, column.description, {}};
        made.values.reserve(report.units.size());
        for (const sorted_unit& unit : report.units)
            made.values.push_back(
                (unit.quality.*column.from).value_or(std::numeric_limits<double>::quiet_NaN()));
        out.push_back(std::move(made));
    }
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

// An earlier model belongs to other units than those that the folder has now.
void name_model(model_file& model, const std::filesystem::path& path,
                const std::filesystem::path& folder) {
    try {
        model.commit();
    } catch (const io_error& error) {
        throw io_error(fmt::format("'{}': cannot be written, but the folder {} was: {}",
                                   path.string(), folder.string(), error.what()));
    }
}

}  // namespace

void write_sorting_report(const std::filesystem::path& folder, const sorting_report& report,
                          bool overwrite, const execution& run) {
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
    out.write("iterations.tsv", report::iterations_tsv(report));
    if (!report.motion.empty()) out.write("motion.tsv", report::motion_tsv(report));
    const report::sorting_details details = report::details_of(report);
    report::write_details(out.file("waveforms.npz"), details);
    report::write_result(
        out, report::document_of(report, details),
        report.with_page && report.sorted.labels.size() <= report::most_spikes_of_a_page, run);
    std::optional<model_file> model;
    if (report.model) model.emplace(report.model_path, *report.model, overwrite);
    out.commit(run.stop);
    if (model) name_model(*model, report.model_path, folder);
}

void write_model(const sorting_report& report, bool overwrite) {
    if (report.model) model_file(report.model_path, *report.model, overwrite).commit();
}

}  // namespace spikeweave
