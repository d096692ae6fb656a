#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "io/file_error.hpp"
#include "io/npy.hpp"
#include "io/phy_text.hpp"
#include "io/progress_meter.hpp"
#include "io/random_file.hpp"
#include "sort/files/readers.hpp"

namespace spikeweave::sort {
namespace {

namespace fs = std::filesystem;

io::npy_reader open_array(const fs::path& path) {
    return {io::open_bytes(path), fmt::format("'{}'", path.string())};
}

std::string shape_text(const io::npy_header& header) {
    std::string text;
    for (const std::uint64_t length : header.shape)
        text += fmt::format("{}{}", text.empty() ? "" : " x ", length);
    return text.empty() ? "one number" : text;
}

// Reads a whole array of integers, in file order.
std::vector<std::int64_t> read_integers(const fs::path& path) {
    io::npy_reader array = open_array(path);
    if (!array.header().is_whole())
        throw io_error(fmt::format("{}: expected whole numbers", array.what()));
    return io::read_whole<std::int64_t>(array);
}

// The channel of each feature column for each template. Empty if all spikes have all channels in
// order.
struct feature_channels {
    std::size_t columns = 0;
    std::vector<std::int64_t> channels{};

    static constexpr std::int64_t none = -1;
    std::int64_t of(std::int64_t shape, std::size_t column) const {
        return channels.empty() ? static_cast<std::int64_t>(column)
                                : channels[static_cast<std::size_t>(shape) * columns + column];
    }
    std::size_t templates() const { return columns == 0 ? 0 : channels.size() / columns; }
};

feature_channels read_feature_channels(const fs::path& path, std::size_t columns,
                                       std::size_t channel_count) {
    feature_channels out{columns, {}};
    std::error_code unknown;
    if (!fs::exists(path, unknown)) {
        if (columns != channel_count)
            throw io::file_error(path.parent_path() / "pc_features.npy",
                                 fmt::format("holds features of {} channels, expected {} or a "
                                             "pc_feature_ind.npy beside it",
                                             columns, channel_count));
        return out;
    }
    const io::npy_header header = open_array(path).header();
    const std::vector<std::int64_t> values = read_integers(path);
    if (columns == 0 || values.size() % columns != 0 ||
        (header.shape.size() == 2 && header.shape[1] != columns))
        throw io::file_error(path, fmt::format("holds {} channels, expected templates x {}",
                                               shape_text(header), columns));
    out.channels.resize(values.size());
    const std::size_t rows = values.size() / columns;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] >= static_cast<std::int64_t>(channel_count))
            throw io::file_error(
                path, fmt::format("item {}", i + 1),
                fmt::format("found {}, expected a channel below {}", values[i], channel_count));
        const std::size_t row = header.fortran_order ? i % rows : i / columns;
        const std::size_t column = header.fortran_order ? i / rows : i % columns;
        out.channels[row * columns + column] = std::max(values[i], feature_channels::none);
    }
    return out;
}

struct feature_shape {
    std::size_t spikes = 0;
    std::size_t per_channel = 0;
    std::size_t columns = 0;
    bool fortran_order = false;
};

feature_shape shape_of(const io::npy_reader& array, std::size_t spikes) {
    const io::npy_header& header = array.header();
    constexpr std::uint64_t widest = std::uint64_t{1} << 20;
    if (header.shape.size() != 3 || header.kind != io::npy_kind::real || header.shape[1] == 0 ||
        header.shape[2] == 0 || header.shape[1] > widest || header.shape[2] > widest)
        throw io_error(fmt::format("{}: found {}, expected reals, spikes x components x channels",
                                   array.what(), shape_text(header)));
    if (header.shape[0] != spikes)
        throw io_error(fmt::format("{}: holds features of {} spikes, expected all {}", array.what(),
                                   header.shape[0], spikes));
    return {spikes, static_cast<std::size_t>(header.shape[1]),
            static_cast<std::size_t>(header.shape[2]), header.fortran_order};
}

// Reads dense rows in which the components of a channel are contiguous; NaN where there is none.
number_table read_values(io::npy_reader& array, const feature_shape& shape,
                         const feature_channels& channels, const std::vector<std::int64_t>& shapes,
                         std::size_t channel_count, const execution& run) {
    number_table table;
    table.columns = channel_count * shape.per_channel;
    table.values.assign(shape.spikes * table.columns, std::numeric_limits<double>::quiet_NaN());
    const io::progress_meter meter(run, "reading pc_features.npy", array.header().count());
    std::array<double, 4096> block{};
    std::uint64_t done = 0;
    while (const std::size_t n = array.read(std::span{block})) {
        for (std::size_t k = 0; k < n; ++k, ++done) {
            const std::uint64_t inner = shape.per_channel * shape.columns;
            const std::size_t spike = shape.fortran_order ? done % shape.spikes : done / inner;
            const std::uint64_t rest = shape.fortran_order ? done / shape.spikes : done % inner;
            const std::size_t part =
                shape.fortran_order ? rest % shape.per_channel : rest / shape.columns;
            const std::size_t column =
                shape.fortran_order ? rest / shape.per_channel : rest % shape.columns;
            if (!std::isfinite(block[k]))
                throw io_error(fmt::format("{}, spike {}: found {}, expected a finite number",
                                           array.what(), spike + 1, block[k]));
            const std::int64_t channel = channels.of(shapes[spike], column);
            if (channel == feature_channels::none) continue;
            table.values[spike * table.columns +
                         static_cast<std::size_t>(channel) * shape.per_channel + part] = block[k];
        }
        meter.at(done);
    }
    array.expect_end();
    return table;
}

std::vector<recording_channel> read_channels(const fs::path& folder, feature_file& file) {
    const std::vector<std::int64_t> map = read_integers(folder / "channel_map.npy");
    file.files.push_back(folder / "channel_map.npy");
    if (map.empty()) throw io::file_error(folder / "channel_map.npy", "holds no channel");
    std::vector<recording_channel> channels(map.size());
    for (std::size_t c = 0; c < channels.size(); ++c) channels[c].name = std::to_string(map[c]);
    std::error_code unknown;
    const fs::path path = folder / "channel_positions.npy";
    if (!fs::exists(path, unknown)) return {};
    io::npy_reader array = open_array(path);
    std::vector<double> places(2 * channels.size() + 1);
    if (array.header().count() != 2 * channels.size() ||
        array.read(std::span{places}) != 2 * channels.size())
        throw io_error(fmt::format("{}: found {}, expected {} x 2 positions", array.what(),
                                   shape_text(array.header()), channels.size()));
    const bool by_column = array.header().fortran_order;
    for (std::size_t c = 0; c < channels.size(); ++c) {
        channels[c].x_um = places[by_column ? c : 2 * c];
        channels[c].y_um = places[by_column ? channels.size() + c : 2 * c + 1];
        if (!std::isfinite(channels[c].x_um) || !std::isfinite(channels[c].y_um))
            throw io_error(
                fmt::format("{}, channel {}: its position is not finite", array.what(), c + 1));
    }
    file.files.push_back(path);
    return channels;
}

void check_templates(const std::vector<std::int64_t>& shapes, const feature_channels& channels,
                     const fs::path& path) {
    if (channels.channels.empty()) return;
    for (std::size_t n = 0; n < shapes.size(); ++n)
        if (shapes[n] < 0 || static_cast<std::uint64_t>(shapes[n]) >= channels.templates())
            throw io::file_error(path, fmt::format("spike {}", n + 1),
                                 fmt::format("found template {}, expected one of the {} of "
                                             "pc_feature_ind.npy",
                                             shapes[n], channels.templates()));
}

// Reads the clusters of manual curation if there are any, otherwise the templates.
void read_labels(const fs::path& folder, const std::vector<std::int64_t>& shapes,
                 feature_file& file) {
    const fs::path path = folder / "spike_clusters.npy";
    std::error_code unknown;
    const bool curated = fs::exists(path, unknown);
    const std::vector<std::int64_t> clusters = curated ? read_integers(path) : shapes;
    if (clusters.size() != shapes.size())
        throw io::file_error(path, fmt::format("holds {} clusters, expected {}, one per spike",
                                               clusters.size(), shapes.size()));
    const io::cluster_column labels = io::read_phy_labels(folder);
    set_labels(
        clusters,
        [&](std::int64_t cluster) {
            const auto found = labels.cells.find(cluster);
            return found != labels.cells.end() && found->second == "noise";
        },
        file);
    if (curated) file.files.push_back(path);
    if (!labels.file.empty()) file.files.push_back(labels.file);
    file.warnings.insert(file.warnings.end(), labels.warnings.begin(), labels.warnings.end());
}

}  // namespace

feature_file read_phy_features(const fs::path& path, const feature_read_options& how,
                               const execution& run) {
    std::error_code unknown;
    const fs::path folder = fs::is_directory(path, unknown) ? path : path.parent_path();
    const fs::path features = folder / "pc_features.npy";
    for (const char* name : {"pc_features.npy", "spike_times.npy", "channel_map.npy"})
        if (!fs::exists(folder / name, unknown))
            throw io::file_error(folder, fmt::format("has no {}, expected a recording, or a folder "
                                                     "of Phy with principal components",
                                                     name));
    if (fs::exists(folder / "pc_feature_spike_ids.npy", unknown))
        throw io::file_error(folder,
                             "has features of some spikes only (pc_feature_spike_ids.npy), "
                             "expected those of all");
    feature_file file;
    file.files = {features, folder / "spike_times.npy"};
    file.samples = read_integers(folder / "spike_times.npy");
    if (file.samples.empty()) throw io::file_error(folder, "holds no spikes");
    const std::vector<recording_channel> channels = read_channels(folder, file);
    const std::size_t channel_count = open_array(folder / "channel_map.npy").header().count();
    io::npy_reader array = open_array(features);
    const feature_shape shape = shape_of(array, file.samples.size());
    const feature_channels where =
        read_feature_channels(folder / "pc_feature_ind.npy", shape.columns, channel_count);
    if (!where.channels.empty()) file.files.push_back(folder / "pc_feature_ind.npy");
    const std::vector<std::int64_t> shapes = read_integers(folder / "spike_templates.npy");
    file.files.push_back(folder / "spike_templates.npy");
    if (shapes.size() != file.samples.size())
        throw io::file_error(folder / "spike_templates.npy",
                             fmt::format("holds {} templates, expected {}, one per spike",
                                         shapes.size(), file.samples.size()));
    check_templates(shapes, where, folder / "spike_templates.npy");
    file.features =
        with_made_masks(read_values(array, shape, where, shapes, channel_count, run),
                        how.mask.value_or(mask_rule::mad), shape.per_channel, file, run);
    check_samples(file, folder / "spike_times.npy");
    file.channels = channels;
    file.features_per_channel = shape.per_channel;
    if (fs::exists(folder / "params.py", unknown)) {
        const io::phy_clock clock = io::read_phy_clock(folder / "params.py");
        file.sample_rate = clock.sample_rate;
        file.begin = clock.begin;
        file.files.push_back(folder / "params.py");
    }
    read_labels(folder, shapes, file);
    return file;
}

}  // namespace spikeweave::sort
