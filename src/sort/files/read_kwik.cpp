#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/file_error.hpp"
#include "io/hdf5_reader.hpp"
#include "io/hdf5_schemas.hpp"
#include "io/progress_meter.hpp"
#include "sort/files/readers.hpp"

namespace spikeweave::sort {
namespace {

namespace fs = std::filesystem;
namespace h5 = io::hdf5;

constexpr auto groups_path = "channel_groups";

// Returns the file that holds the features: the .kwx, to which the .kwik only links.
fs::path file_of_features(const h5::reader& file, std::uint32_t group) {
    fs::path found = file.file_of(fmt::format("{}/{}", groups_path, group));
    return found.empty() ? file.path() : found;
}

bool is_group_number(std::string_view name) {
    return !name.empty() &&
           std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The names of groups for a message: a damaged file may have any bytes there.
std::string list_groups(std::vector<std::string> names) {
    for (std::string& name : names)
        if (!is_group_number(name)) name = io::shown(name);
    return fmt::format("{}", fmt::join(names, ", "));
}

// Returns the requested group, or the only one.
std::uint32_t choose_group(const h5::reader& file, std::optional<std::uint32_t> wanted) {
    const fs::path& path = file.path();
    if (!file.exists(groups_path))
        throw io::file_error(path, "has no /channel_groups, expected a file of klusta");
    const std::vector<std::string> names = file.members(groups_path);
    if (wanted) {
        if (std::find(names.begin(), names.end(), std::to_string(*wanted)) != names.end())
            return *wanted;
        throw io::file_error(path, fmt::format("has no channel group {}, expected one of {}",
                                               *wanted, list_groups(names)));
    }
    if (names.size() != 1)
        throw io::file_error(
            path,
            fmt::format("holds {} channel groups ({}): select the one to sort with `channel_group`",
                        names.size(), list_groups(names)));
    const std::string& name = names.front();
    constexpr std::size_t longest = 9;
    if (!is_group_number(name) || name.size() > longest)
        throw io::file_error(
            path, fmt::format("its channel group is {}, expected a number", io::shown(name)));
    return static_cast<std::uint32_t>(std::stoul(name));
}

// Reports an invalid number of a spike.
[[noreturn]] void refuse(const fs::path& path, const std::string& name, std::size_t spike,
                         std::size_t column, float found, const char* expected) {
    throw io::file_error(path, fmt::format("/{}, spike {}, column {}", name, spike + 1, column + 1),
                         fmt::format("found {}, expected {}", found, expected));
}

std::string features_name(const feature_file& out) {
    return fmt::format("{}/{}/features_masks", groups_path, *out.channel_group);
}

struct feature_counts {
    std::size_t spikes = 0;
    std::size_t features = 0;
};

feature_counts count_features(const h5::column& data) {
    const auto& shape = data.shape();
    constexpr std::uint64_t widest = std::uint64_t{1} << 20;
    if (shape.size() != 3 || shape[2] != 2 || shape[1] == 0 || shape[1] > widest)
        data.fail(fmt::format("its shape is {}, expected spikes x features x 2",
                              fmt::join(shape, " x ")));
    if (shape[0] == 0) data.fail("holds no spikes");
    return {static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1])};
}

// Reads features and masks, which the file stores in pairs.
void read_features_masks(const fs::path& path, const h5::column& data, const feature_counts& counts,
                         const feature_read_options& how, feature_file& out, const execution& run) {
    const std::string name = features_name(out);
    number_table table;
    table.columns = counts.features;
    // The header may be damaged, so no more memory is reserved than the file can fill.
    table.values.reserve(static_cast<std::size_t>(
        std::min<std::uintmax_t>(counts.spikes * counts.features, fs::file_size(path))));
    spike_masks masks;
    std::vector<double> row(table.columns);
    constexpr std::size_t at_once = 1024;
    std::vector<float> block;
    const io::progress_meter meter(run, "reading " + path.filename().string(), counts.spikes);
    for (std::size_t begin = 0; begin < counts.spikes; begin += at_once) {
        const std::size_t count = std::min(at_once, counts.spikes - begin);
        block.resize(count * table.columns * 2);
        data.read_rows(begin, block);
        for (std::size_t k = 0; k < count; ++k) {
            for (std::size_t i = 0; i < table.columns; ++i) {
                const float value = block[2 * (k * table.columns + i)];
                const float mask = block[2 * (k * table.columns + i) + 1];
                if (!std::isfinite(value))
                    refuse(path, name, begin + k, i, value, "a finite number");
                if (!(mask >= 0 && mask <= 1))
                    refuse(path, name, begin + k, i, mask, "a mask from 0 to 1");
                table.values.push_back(value);
                row[i] = mask;
            }
            if (!how.mask) masks.append(row);
        }
        meter.at(begin + count);
    }
    if (how.mask) {
        const std::size_t width =
            out.features_per_channel > 0 ? out.features_per_channel : how.features_per_channel;
        out.features = with_made_masks(std::move(table), *how.mask, width, out, run);
        return;
    }
    out.masks_from = path.string();
    out.features = {table.columns, std::move(table.values), std::move(masks)};
}

std::vector<recording_channel> read_channels(const h5::reader& file, const std::string& group) {
    constexpr double highest = 1e6;
    std::vector<recording_channel> channels;
    for (const double number : file.number_attributes(group, "channel_order")) {
        if (!(number >= 0 && number < highest && std::trunc(number) == number))
            throw io::file_error(
                file.path(), fmt::format("/{}@channel_order", group),
                fmt::format("found {}, expected numbers of channels from 0 on", number));
        recording_channel channel{.name = fmt::format("{}", static_cast<std::int64_t>(number))};
        const std::string name = fmt::format("{}/channels/{}", group, channel.name);
        if (file.exists(name)) {
            const auto place = file.number_attributes(name, "position");
            if (place.size() == 2 && std::isfinite(place[0]) && std::isfinite(place[1])) {
                channel.x_um = place[0];
                channel.y_um = place[1];
            }
        }
        channels.push_back(std::move(channel));
    }
    return channels;
}

// Reads one number per spike.
std::vector<std::int64_t> read_numbers(const h5::column& column, std::size_t spikes) {
    if (column.size() != spikes)
        column.fail(
            fmt::format("holds {} numbers, expected {}, one per spike", column.size(), spikes));
    std::vector<std::int64_t> out(spikes);
    column.read(0, out);
    return out;
}

// Clusters of group 0 are noise. Without a group, clusters 0 and 1 are noise, as KlustaKwik numbers
// them.
void read_labels(const h5::reader& file, const std::string& group, std::size_t spikes,
                 feature_file& out) {
    const auto is_noise = [&](std::int64_t cluster) {
        const std::string name = fmt::format("{}/clusters/main/{}", group, cluster);
        if (file.exists(name)) {
            const auto kind = file.number_attributes(name, "cluster_group");
            if (kind.size() == 1) return kind[0] == 0;
        }
        return cluster <= 1;
    };
    set_labels(read_numbers({file, group + "/spikes/clusters/main"}, spikes), is_noise, out);
}

std::vector<float> read_fractions(const h5::column& column, std::size_t spikes) {
    constexpr std::int64_t whole = 255;
    std::vector<float> out;
    out.reserve(spikes);
    for (const std::int64_t part : read_numbers(column, spikes)) {
        if (part < 0 || part > whole)
            column.fail(fmt::format("found {}, expected 0 to {}", part, whole));
        out.push_back(static_cast<float>(part) / static_cast<float>(whole));
    }
    return out;
}

void read_beside(const h5::reader& file, const feature_counts& counts, feature_file& out) {
    const fs::path& path = file.path();
    const std::string group = fmt::format("{}/{}", groups_path, *out.channel_group);
    if (!file.exists(group)) throw io::file_error(path, fmt::format("/{}", group), "is missing");
    out.files.push_back(path);
    out.sample_rate = io::read_kwik_rate(file);
    out.channels = read_channels(file, group);
    if (!out.channels.empty() && counts.features % out.channels.size() != 0)
        throw io::file_error(path, fmt::format("has {} channels, which do not share {} features "
                                               "evenly",
                                               out.channels.size(), counts.features));
    if (!out.channels.empty()) out.features_per_channel = counts.features / out.channels.size();
    const std::string times = group + "/spikes/time_samples";
    const std::string fractions = group + "/spikes/time_fractional";
    if (file.exists(times)) {
        out.samples = read_numbers({file, times}, counts.spikes);
        if (file.exists(fractions))
            out.fractions = read_fractions({file, fractions}, counts.spikes);
    }
    if (file.exists(group + "/spikes/clusters/main")) read_labels(file, group, counts.spikes, out);
}

}  // namespace

feature_file read_kwik(const fs::path& path, const feature_read_options& how,
                       const execution& run) {
    const fs::path features = fs::path(path).replace_extension(".kwx");
    const fs::path spikes = fs::path(path).replace_extension(".kwik");
    std::error_code unknown;
    if (!fs::exists(features, unknown))
        throw io::file_error(path, fmt::format("has no '{}' beside it, expected the features there",
                                               features.filename().string()));
    const h5::reader file(features, run.stop);
    feature_file out;
    out.channel_group = choose_group(file, how.channel_group);
    out.files.push_back(file_of_features(file, *out.channel_group));
    const h5::column data(file, features_name(out));
    const feature_counts counts = count_features(data);
    if (fs::exists(spikes, unknown)) read_beside({spikes, run.stop}, counts, out);
    read_features_masks(features, data, counts, how, out, run);
    if (!out.samples.empty()) check_samples(out, spikes);
    return out;
}

}  // namespace spikeweave::sort
