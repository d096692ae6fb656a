#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "io/atomic_file.hpp"
#include "io/file_error.hpp"
#include "io/hdf5.hpp"
#include "io/hdf5_output.hpp"
#include "sort/files/readers.hpp"
#include "spikeweave/core/version.hpp"
#include "spikeweave/record/detection.hpp"

namespace spikeweave {
namespace {

namespace fs = std::filesystem;
namespace h5 = io::hdf5;

constexpr std::array<const char*, 4> group_names{"Noise", "MUA", "Good", "Unsorted"};
constexpr std::int32_t noise_group = 0;
constexpr std::int32_t unsorted_group = 3;

template <class Item>
void write_column(hid_t group, const std::string& name, hid_t file_type, hid_t memory_type,
                  const std::vector<Item>& items) {
    const h5::handle column = h5::create_dataset(group, name, file_type, {items.size()});
    h5::write_block(column.get(), 0, items.size(), memory_type, items.data());
}

void write_spikes(hid_t group, const sorting& sorted) {
    const h5::handle spikes = h5::create_group(group, "spikes");
    const std::size_t n = sorted.labels.size();
    // Fractions in this format are not negative, so a peak before its sample is stored after the
    // previous one.
    std::vector<std::uint64_t> samples(n);
    std::vector<std::uint8_t> fractions(n);
    for (std::size_t i = 0; i < n; ++i) {
        const float fraction = sorted.fractions.empty() ? 0.0F : sorted.fractions[i];
        const bool before = fraction < 0 && sorted.samples[i] > 0;
        samples[i] = static_cast<std::uint64_t>(sorted.samples[i]) - (before ? 1 : 0);
        const float part = before ? fraction + 1 : std::max(fraction, 0.0F);
        fractions[i] = static_cast<std::uint8_t>(std::lround(part * 255));
    }
    write_column(spikes.get(), "time_samples", H5T_STD_U64LE, H5T_NATIVE_UINT64, samples);
    write_column(spikes.get(), "time_fractional", H5T_STD_U8LE, H5T_NATIVE_UINT8, fractions);
    write_column(spikes.get(), "recording", H5T_STD_I32LE, H5T_NATIVE_INT32,
                 std::vector<std::int32_t>(n));
    const h5::handle clusters = h5::create_group(spikes.get(), "clusters");
    for (const char* name : {"main", "original"})
        write_column(clusters.get(), name, H5T_STD_I32LE, H5T_NATIVE_UINT32, sorted.labels);
}

void write_measures(hid_t cluster, const unit_quality& quality) {
    const h5::handle measures = h5::create_group(cluster, "quality_measures");
    const std::array<std::pair<const char*, std::optional<double>>, 5> all{{
        {"isolation_distance", quality.isolation_distance},
        {"l_ratio", quality.l_ratio},
        {"refractory_violation", quality.refractory_violations},
        {"contamination", quality.contamination},
        {"snr", quality.snr},
    }};
    for (const auto& [name, value] : all)
        if (value) h5::write_attribute(measures.get(), name, *value);
}

// Writes a group for each cluster that has spikes and for each kind of cluster, for both
// labellings.
void write_clusters(hid_t group, const kwik_content& content) {
    std::vector<bool> there(std::size_t{content.sorted.unit_count} + 1);
    for (const std::uint32_t label : content.sorted.labels) there.at(label) = true;
    const h5::handle clusters = h5::create_group(group, "clusters");
    const h5::handle kinds = h5::create_group(group, "cluster_groups");
    for (const char* labelling : {"main", "original"}) {
        const h5::handle own = h5::create_group(clusters.get(), labelling);
        for (std::size_t label = 0; label < there.size(); ++label) {
            if (!there[label]) continue;
            const h5::handle cluster = h5::create_group(own.get(), std::to_string(label));
            h5::write_attribute(cluster.get(), "cluster_group",
                                label == 0 ? noise_group : unsorted_group);
            if (label > 0 && label <= content.quality.size())
                write_measures(cluster.get(), content.quality[label - 1]);
        }
        const h5::handle kind = h5::create_group(kinds.get(), labelling);
        for (std::size_t k = 0; k < group_names.size(); ++k)
            h5::write_attribute(h5::create_group(kind.get(), std::to_string(k)).get(), "name",
                                std::string(group_names[k]));
    }
}

void write_channels(hid_t group, std::span<const recording_channel> all) {
    std::vector<std::int32_t> order(all.size());
    const h5::handle channels = h5::create_group(group, "channels");
    for (std::size_t c = 0; c < all.size(); ++c) {
        order[c] = static_cast<std::int32_t>(c);
        const h5::handle channel = h5::create_group(channels.get(), std::to_string(c));
        h5::write_attribute(channel.get(), "name", all[c].name);
        const std::array<float, 2> place{static_cast<float>(all[c].x_um),
                                         static_cast<float>(all[c].y_um)};
        h5::write_attribute(channel.get(), "position", std::span<const float>(place));
    }
    h5::write_attribute(group, "channel_order", std::span<const std::int32_t>(order));
    const auto neighbours = neighbours_of({all.begin(), all.end()});
    std::vector<std::array<std::int32_t, 2>> edges;
    for (std::uint32_t c = 0; c < neighbours.size(); ++c)
        for (const std::uint32_t other : neighbours[c])
            if (other > c)
                edges.push_back({static_cast<std::int32_t>(c), static_cast<std::int32_t>(other)});
    h5::write_attribute(group, "adjacency_graph",
                        std::span<const std::array<std::int32_t, 2>>(edges));
}

// Writes the attributes that klusta requires.
void write_application_data(hid_t file, const kwik_content& content) {
    const h5::handle data = h5::create_group(file, "application_data");
    const h5::handle detection = h5::create_group(data.get(), "spikedetekt");
    if (content.sorted.sample_rate > 0)
        h5::write_attribute(detection.get(), "sample_rate", content.sorted.sample_rate);
    if (!content.channels.empty())
        h5::write_attribute(detection.get(), "n_channels",
                            static_cast<std::int32_t>(content.channels.size()));
}

void write_root(hid_t file) {
    h5::write_attribute(file, "kwik_version", std::int32_t{2});
    h5::write_attribute(file, "name", std::string("sorting"));
    h5::write_attribute(file, "creator_version", fmt::format("spikeweave {}", version()));
}

// HDF5 closes a file only after all of its objects, so these functions close theirs before
// `commit`.
void write_all(hid_t file, const kwik_content& content) {
    write_root(file);
    write_application_data(file, content);
    const h5::handle recordings = h5::create_group(file, "recordings");
    const h5::handle recording = h5::create_group(recordings.get(), "0");
    h5::write_attribute(recording.get(), "name", std::string("recording_0"));
    h5::write_attribute(recording.get(), "start_sample", 0.0);
    h5::write_attribute(recording.get(), "start_time", 0.0);
    if (content.sorted.sample_rate > 0)
        h5::write_attribute(recording.get(), "sample_rate", content.sorted.sample_rate);
    const h5::handle groups = h5::create_group(file, "channel_groups");
    const std::string number = std::to_string(content.channel_group);
    const h5::handle group = h5::create_group(groups.get(), number);
    h5::write_attribute(group.get(), "name", fmt::format("channel_group_{}", number));
    if (!content.channels.empty()) write_channels(group.get(), content.channels);
    write_spikes(group.get(), content.sorted);
    write_clusters(group.get(), content);
}

void write_link(hid_t file, const kwik_content& content) {
    write_root(file);
    const h5::handle groups = h5::create_group(file, "channel_groups");
    const std::string number = std::to_string(content.channel_group);
    h5::link_outside(groups.get(), number, fs::absolute(content.features),
                     fmt::format("/channel_groups/{}", number));
}

void write_files(const fs::path& path, const kwik_content& content) {
    h5::output spikes(path);
    write_all(spikes.get(), content);
    h5::output features(fs::path(path).replace_extension(".kwx"));
    write_link(features.get(), content);
    spikes.commit();
    features.commit();
}

}  // namespace

void write_kwik(const fs::path& path, const kwik_content& content) {
    const sorting& sorted = content.sorted;
    if (sorted.samples.size() != sorted.labels.size())
        throw invalid_argument("the times of these spikes are not known in samples");
    const h5::quiet no_printing;
    try {
        write_files(path, content);
    } catch (const io_error& error) {
        const std::string_view what = error.what();
        if (what.starts_with('\'')) throw;  // the message already names the file
        throw io::file_error(path, fmt::format("cannot be written: {}", what));
    }
    if (!(sorted.sample_rate > 0)) return;
    io::atomic_file parameters(fs::path(path).replace_extension(".prm"));
    parameters.write(fmt::format("experiment_name = '{}'\ntraces = dict(sample_rate={})\n",
                                 path.stem().string(), sorted.sample_rate));
    parameters.commit();
}

}  // namespace spikeweave
