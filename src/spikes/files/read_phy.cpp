#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "io/file_error.hpp"
#include "io/phy_text.hpp"
#include "io/random_file.hpp"
#include "spikes/files/numpy_times.hpp"

namespace spikeweave::spikes {
namespace {

// Returns nothing if no file of the folder has signal-to-noise ratios.
std::vector<double> snr_of(spike_file& file, const std::filesystem::path& folder) {
    io::cluster_column known = io::read_phy_column(folder, "snr");
    std::vector<double> out;
    if (known.cells.empty()) return out;
    for (const std::string& unit : file.spikes.unit_names()) {
        const std::int64_t cluster = std::stoll(unit);
        const auto found = known.cells.find(cluster);
        double snr = std::numeric_limits<double>::quiet_NaN();
        if (found != known.cells.end()) {
            const std::string& cell = found->second;
            const char* const last = cell.data() + cell.size();
            const auto [end, code] = fast_float::from_chars(cell.data(), last, snr);
            if (code != std::errc{} || end != last) {
                snr = std::numeric_limits<double>::quiet_NaN();
                known.distrust(cluster, "a number in the column snr");
            }
        }
        out.push_back(snr);
    }
    std::ranges::move(known.warnings, std::back_inserter(file.warnings));
    return out;
}

// Clusters without a label are unsorted. Returns nothing if no cluster has one.
std::vector<std::string> labels_of(spike_file& file, const std::filesystem::path& folder) {
    io::cluster_column labels = io::read_phy_labels(folder);
    std::ranges::move(labels.warnings, std::back_inserter(file.warnings));
    std::vector<std::string> out;
    if (labels.cells.empty()) return out;
    for (const std::string& unit : file.spikes.unit_names()) {
        const auto found = labels.cells.find(std::stoll(unit));
        out.push_back(found == labels.cells.end() ? "unsorted" : found->second);
    }
    return out;
}

}  // namespace

spike_file read_phy(const reading& job) {
    std::error_code ignored;
    const bool is_folder = std::filesystem::is_directory(job.path, ignored);
    if (!is_folder && job.path.filename() != "params.py")
        throw io::file_error(job.path, "expected a folder of Phy or its params.py");
    const std::filesystem::path folder = is_folder                    ? job.path
                                         : job.path.has_parent_path() ? job.path.parent_path()
                                                                      : ".";
    // The caller's unit of time is needed only if the folder does not define one.
    const bool has_params = std::filesystem::exists(folder / "params.py", ignored);
    if (!has_params && job.how.time_unit.empty())
        throw io::file_error(job.path,
                             fmt::format("has no params.py {}, which states the sample rate: "
                                         "expected one, or `time_unit` samples:RATE",
                                         is_folder ? "in it" : "beside it"));
    const bool is_told = !job.how.time_unit.empty();
    const io::phy_clock clock =
        is_told ? io::phy_clock{} : io::read_phy_clock(folder / "params.py");
    const time_scale scale =
        is_told ? time_scale::from(job.how.time_unit) : time_scale::samples(clock.sample_rate);
    // Phy writes merges and splits to spike_clusters; templates are the result of the sorter.
    const bool curated = std::filesystem::exists(folder / "spike_clusters.npy", ignored);
    spike_file file;
    spike_sequence_builder builder;
    read_array_files(folder / "spike_times.npy",
                     folder / (curated ? "spike_clusters.npy" : "spike_templates.npy"),
                     numpy_times(scale, job, clock.begin), builder, file, job);
    finish(file, builder, job);
    file.are_clusters = true;
    if (job.how.cleaning.min_snr) file.snr = snr_of(file, folder);
    file.labels = labels_of(file, folder);
    return file;
}

}  // namespace spikeweave::spikes
