#include <fmt/format.h>

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "io/file_error.hpp"
#include "io/phy_text.hpp"
#include "io/random_file.hpp"
#include "spikes/files/numpy_times.hpp"

namespace spikeweave::spikes {
namespace {

// Returns nothing if no file of the folder has signal-to-noise ratios.
std::vector<double> snr_of(const std::vector<std::string>& clusters,
                           const std::filesystem::path& folder) {
    const std::map<std::int64_t, double> known = io::read_phy_column(folder, "snr");
    std::vector<double> out;
    if (known.empty()) return out;
    for (const std::string& cluster : clusters) {
        const auto found = known.find(std::stoll(cluster));
        out.push_back(found == known.end() ? std::numeric_limits<double>::quiet_NaN()
                                           : found->second);
    }
    return out;
}

// Clusters without a group are unsorted. Returns nothing if no cluster has a group.
std::vector<std::string> labels_of(const std::vector<std::string>& clusters,
                                   const std::filesystem::path& folder) {
    const auto groups = io::read_phy_groups(folder / "cluster_group.tsv");
    std::vector<std::string> out;
    if (groups.empty()) return out;
    for (const std::string& cluster : clusters) {
        const auto found = groups.find(std::stoll(cluster));
        const bool has_group = found != groups.end() && !found->second.empty();
        out.push_back(has_group ? found->second : "unsorted");
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
        throw io::file_error(
            job.path, fmt::format("has no params.py {}, which says the sample rate: expected one, "
                                  "or to be told the unit of time as samples:RATE",
                                  is_folder ? "in it" : "beside it"));
    const time_scale scale =
        job.how.time_unit.empty()
            ? time_scale::samples(io::read_phy_sample_rate(folder / "params.py"))
            : time_scale::from(job.how.time_unit);
    // Phy writes merges and splits to spike_clusters; templates are the result of the sorter.
    const bool curated = std::filesystem::exists(folder / "spike_clusters.npy", ignored);
    const std::filesystem::path times_path = folder / "spike_times.npy";
    const std::filesystem::path units_path =
        folder / (curated ? "spike_clusters.npy" : "spike_templates.npy");
    io::npy_reader times(io::open_bytes(times_path), fmt::format("'{}'", times_path.string()));
    io::npy_reader units(io::open_bytes(units_path), fmt::format("'{}'", units_path.string()));
    if (times.header().count() != units.header().count())
        throw io::file_error(folder, fmt::format("holds {} times and {} clusters, expected as many",
                                                 times.header().count(), units.header().count()));
    spike_file file;
    spike_sequence_builder builder;
    integer_units numbers(builder);
    numpy_times to_us(scale, job);
    read_spike_arrays(times, units, to_us, numbers, builder,
                      job.meter(times.header().count() *
                                (times.header().item_bytes + units.header().item_bytes)));
    times.expect_end();
    units.expect_end();
    finish(file, builder, job);
    if (job.how.cleaning.min_snr) file.snr = snr_of(file.spikes.unit_names(), folder);
    file.labels = labels_of(file.spikes.unit_names(), folder);
    return file;
}

}  // namespace spikeweave::spikes
