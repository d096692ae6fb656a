#include <utility>

#include "spikeweave/report/sort.hpp"

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
                          .model_path = result.options.save_model};
    execution used = run;
    used.threads = result.options.run.threads;
    const bool is_recording = report.waveforms.group_count() > 0;
    record_run(report.run,
               is_recording ? describe(result.options) : describe_feature_sort(result.options),
               result.options.search.seed, used, *result.options.run.devices);
    report.run.warnings = std::move(result.warnings);
    report.run.seconds = result.seconds;
    if (report.sorted.has_times()) report.run.duplicates = to_spikes(report.sorted).duplicates;
    return report;
}

}  // namespace spikeweave
