#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/file_error.hpp"
#include "io/npy.hpp"
#include "io/phy_text.hpp"
#include "io/random_file.hpp"
#include "spikes/files/numpy_times.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/positions.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

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

// The numbers of an array of a side file, which may be missing: nothing then. An unreadable array
// is not used, with a warning.
template <class Number>
std::vector<Number> numbers_of(const std::filesystem::path& path,
                               std::vector<std::string>& warnings) {
    std::error_code ignored;
    std::vector<Number> out;
    if (!std::filesystem::exists(path, ignored)) return out;
    constexpr std::uint64_t most = std::uint64_t{1} << 32;
    try {
        io::npy_reader array(io::open_bytes(path), fmt::format("'{}'", path.string()));
        if (array.header().fortran_order || array.header().count() > most) return out;
        out.resize(array.header().count());
        std::size_t done = 0;
        while (const std::size_t n = array.read(std::span{out}.subspan(done))) done += n;
        array.expect_end();
    } catch (const io_error& error) {
        warnings.push_back(fmt::format("{}; the file is not used.", error.what()));
        out.clear();
    }
    return out;
}

// The template from which most spikes of each cluster are.
std::map<std::string, std::size_t> templates_of(const std::filesystem::path& folder, bool curated,
                                                std::vector<std::string>& warnings) {
    const auto templates = numbers_of<std::int64_t>(folder / "spike_templates.npy", warnings);
    const auto clusters =
        curated ? numbers_of<std::int64_t>(folder / "spike_clusters.npy", warnings) : templates;
    std::map<std::int64_t, std::map<std::int64_t, std::size_t>> counts;
    for (std::size_t i = 0; i < std::min(templates.size(), clusters.size()); ++i)
        if (templates[i] >= 0) ++counts[clusters[i]][templates[i]];
    std::map<std::string, std::size_t> out;
    for (const auto& [cluster, of_template] : counts)
        out[std::to_string(cluster)] =
            static_cast<std::size_t>(std::ranges::max_element(of_template, {}, [](const auto& one) {
                                         return one.second;
                                     })->first);
    return out;
}

// The mean of the positions of the channels of a template, weighted by the squares of its heights
// there; `values` has the channels of each sample.
std::optional<unit_place> place_of(std::span<const double> values,
                                   std::span<const std::int64_t> channels,
                                   std::span<const double> positions) {
    unit_place sum;
    double all = 0;
    for (std::size_t k = 0; k < channels.size(); ++k) {
        if (channels[k] < 0 || 2 * static_cast<std::size_t>(channels[k]) >= positions.size())
            continue;  // a template of fewer channels
        double low = 0;
        double high = 0;
        for (std::size_t i = k; i < values.size(); i += channels.size()) {
            low = std::min(low, values[i]);
            high = std::max(high, values[i]);
        }
        const double weight = (high - low) * (high - low);
        const std::span<const double> at =
            positions.subspan(2 * static_cast<std::size_t>(channels[k]), 2);
        sum = {sum.x_um + weight * at[0], sum.y_um + weight * at[1]};
        all += weight;
    }
    const unit_place mean{sum.x_um / all, sum.y_um / all};
    if (!std::isfinite(mean.x_um) || !std::isfinite(mean.y_um)) return std::nullopt;
    return mean;
}

// Where the clusters are, by the templates from which most of their spikes are.
unit_places places_of_clusters(const std::filesystem::path& folder, bool curated,
                               std::vector<std::string>& warnings) {
    const auto positions = numbers_of<double>(folder / "channel_positions.npy", warnings);
    const std::filesystem::path path = folder / "templates.npy";
    std::error_code ignored;
    unit_places out;
    if (positions.empty() || !std::filesystem::exists(path, ignored)) return out;
    // The channels of each template, if it has not all of them.
    const auto listed = numbers_of<std::int64_t>(folder / "templates_ind.npy", warnings);
    try {
        io::npy_reader array(io::open_bytes(path), fmt::format("'{}'", path.string()));
        const std::vector<std::uint64_t>& shape = array.header().shape;
        constexpr std::uint64_t most_samples = 10'000;
        if (array.header().fortran_order || shape.size() != 3 || !array.header().is_number() ||
            shape[1] > most_samples)
            return out;
        const std::uint64_t width = shape[2];
        if (listed.empty() ? 2 * width != positions.size() : shape[0] * width != listed.size())
            return out;
        std::vector<std::int64_t> all(listed.empty() ? width : 0);
        std::iota(all.begin(), all.end(), 0);
        std::vector<std::optional<unit_place>> places;
        std::vector<double> values(shape[1] * width);
        for (std::uint64_t t = 0; t < shape[0]; ++t) {
            for (std::size_t done = 0; done < values.size();)
                done += array.read(std::span{values}.subspan(done));
            places.push_back(
                place_of(values, listed.empty() ? all : std::span{listed}.subspan(t * width, width),
                         positions));
        }
        array.expect_end();
        for (const auto& [cluster, of] : templates_of(folder, curated, warnings))
            if (of < places.size() && places[of]) out.emplace(cluster, *places[of]);
    } catch (const io_error& error) {
        warnings.push_back(fmt::format("{}; the file is not used.", error.what()));
    }
    return out;
}

// Pairs of clusters that may be one neuron, by the similarity of their templates, as Kilosort
// writes it. Clusters that a person has made of one template are two.
std::vector<doubtful_pair> similar_clusters(const std::filesystem::path& folder, bool curated,
                                            spike_file& file) {
    const auto similarity = numbers_of<double>(folder / "similar_templates.npy", file.warnings);
    if (similarity.empty()) return {};
    const auto size = static_cast<std::size_t>(std::lround(std::sqrt(similarity.size())));
    const auto template_of = templates_of(folder, curated, file.warnings);
    const spike_trains trains(file.spikes);
    std::vector<doubtful_pair> out;
    for (std::uint32_t a = 0; a < file.spikes.unit_count(); ++a)
        for (std::uint32_t b = a + 1; b < file.spikes.unit_count(); ++b) {
            const auto one = template_of.find(file.spikes.name(unit_id{a}));
            const auto other = template_of.find(file.spikes.name(unit_id{b}));
            if (one == template_of.end() || other == template_of.end() ||
                one->second == other->second || std::max(one->second, other->second) >= size)
                continue;
            if (may_be_one_neuron(similarity[one->second * size + other->second],
                                  trains.times_us(unit_id{a}), trains.times_us(unit_id{b})))
                out.push_back({one->first, other->first, unit_doubt::one_neuron});
        }
    return out;
}

// The pairs that the tables of clusters name, as spikeweave sort writes them, or else those of
// which the templates are alike.
std::vector<doubtful_pair> doubtful_clusters(const std::filesystem::path& folder, bool curated,
                                             spike_file& file) {
    const std::vector<std::string>& units = file.spikes.unit_names();
    std::vector<doubtful_pair> out;
    bool is_named = false;
    for (const unit_doubt why : unit_doubts) {
        io::cluster_column known = io::read_phy_column(folder, column_of(why));
        is_named = is_named || !known.file.empty();
        std::vector<std::string> cells;
        for (const std::string& unit : units) cells.push_back(known.cells[std::stoll(unit)]);
        std::ranges::move(pairs_in(cells, units, why), std::back_inserter(out));
        std::ranges::move(known.warnings, std::back_inserter(file.warnings));
    }
    return is_named ? out : similar_clusters(folder, curated, file);
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
    file.spikes.set_places(places_of_clusters(folder, curated, file.warnings));
    file.spikes.set_doubtful_pairs(doubtful_clusters(folder, curated, file));
    return file;
}

}  // namespace spikeweave::spikes
