#include "report/sort/details.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "io/npy.hpp"
#include "io/zip.hpp"

namespace spikeweave::report {
namespace {

constexpr std::size_t most_channels_of_a_unit = 12;

// The largest absolute value of a mean waveform on each channel.
std::vector<double> heights_of(const mean_waveforms& waveforms, std::size_t group) {
    std::vector<double> heights(waveforms.channel_count);
    const auto values = waveforms.of(group);
    for (std::size_t i = 0; i < values.size(); ++i) {
        double& height = heights[i % heights.size()];
        height = std::max(height, std::abs(static_cast<double>(values[i])));
    }
    return heights;
}

// The channel where a unit is largest and those closest to it, ascending; without positions those
// where it is largest.
std::vector<std::uint32_t> channels_around(const std::vector<double>& heights,
                                           const std::vector<recording_channel>& channels,
                                           std::size_t count) {
    const auto peak = static_cast<std::size_t>(std::ranges::max_element(heights) - heights.begin());
    const auto distance = [&](std::uint32_t c) {
        if (channels.empty()) return c == peak ? -1.0 : -heights[c];
        if (channels[c].shank != channels[peak].shank)
            return std::numeric_limits<double>::infinity();
        return std::hypot(channels[c].x_um - channels[peak].x_um,
                          channels[c].y_um - channels[peak].y_um);
    };
    std::vector<std::uint32_t> all(heights.size());
    std::iota(all.begin(), all.end(), 0U);
    std::ranges::stable_sort(all, {}, distance);
    if (channels.empty()) {
        const auto at = std::ranges::find(all, static_cast<std::uint32_t>(peak));
        std::rotate(all.begin(), at, at + 1);
    }
    all.resize(count);
    std::ranges::sort(all);
    return all;
}

void take_waveforms(const sorting_source& from, sorting_details& out) {
    const mean_waveforms& waveforms = from.waveforms;
    if (waveforms.group_count() == 0) return;
    out.frames = waveforms.frame_count;
    out.before = waveforms.before;
    out.channels_per_unit = std::min(waveforms.channel_count, most_channels_of_a_unit);
    const bool is_spread_known = waveforms.deviations.size() == waveforms.values.size();
    for (std::size_t group = 1; group < waveforms.group_count(); ++group) {
        const auto around =
            channels_around(heights_of(waveforms, group), from.channels, out.channels_per_unit);
        out.channels.insert(out.channels.end(), around.begin(), around.end());
        out.averaged.push_back(waveforms.spikes[group]);
        const std::size_t first = group * out.frames * waveforms.channel_count;
        for (std::size_t frame = 0; frame < out.frames; ++frame)
            for (const std::uint32_t channel : around) {
                const std::size_t at = first + frame * waveforms.channel_count + channel;
                out.mean.push_back(waveforms.values[at]);
                out.deviation.push_back(is_spread_known ? waveforms.deviations[at] : 0.0F);
            }
    }
    for (std::size_t h = 0; h < waveforms.halves.size(); ++h) {
        if (waveforms.halves[h].empty()) continue;
        for (std::size_t u = 0; u + 1 < waveforms.group_count(); ++u) {
            out.averaged_of_halves.push_back(waveforms.spikes_of_halves[h][u + 1]);
            const std::size_t first = (u + 1) * out.frames * waveforms.channel_count;
            for (std::size_t frame = 0; frame < out.frames; ++frame)
                for (std::size_t k = 0; k < out.channels_per_unit; ++k)
                    out.halves.push_back(
                        waveforms.halves[h][first + frame * waveforms.channel_count +
                                            out.channels[u * out.channels_per_unit + k]]);
        }
    }
}

void take_positions(const std::vector<recording_channel>& channels, sorting_details& out) {
    for (const recording_channel& channel : channels) {
        out.x_um.push_back(channel.x_um);
        out.y_um.push_back(channel.y_um);
        out.shanks.push_back(channel.shank);
    }
}

// The largest norm of the features of a channel, and the mean depth of the channels on which the
// spike is clear, weighted by the square of this norm.
std::pair<double, double> place_of(const sorting_source& from, std::size_t spike) {
    const spike_features& features = *from.features;
    const std::size_t width = from.features_per_channel;
    double most = 0;
    double depth = 0;
    double largest_depth = 0;
    double weight = 0;
    double squares = 0;
    const auto clear = features.unmasked(spike);
    features.for_each_known(spike, [&](std::size_t i, double x) {
        if (i % width == 0) squares = 0;
        squares += x * x;
        const std::size_t channel = i / width;
        if (i % width + 1 != width || from.channels.size() <= channel) {
            most = std::max(most, i % width + 1 == width ? squares : 0.0);
            return;
        }
        const double y = from.channels[channel].y_um;
        if (squares > most) {
            most = squares;
            largest_depth = y;
        }
        const auto first = std::ranges::lower_bound(clear, channel * width);
        if (first == clear.end() || *first >= (channel + 1) * width) return;
        depth += squares * y;
        weight += squares;
    });
    return {std::sqrt(most), weight > 0 ? depth / weight : largest_depth};
}

void take_places(const sorting_source& from, sorting_details& out) {
    const std::size_t spikes = from.sorted.labels.size();
    out.in_microvolts = from.amplitudes.size() == spikes && from.waveforms.group_count() > 0;
    std::vector<double> heights;
    for (std::size_t group = 0; out.in_microvolts && group < from.waveforms.group_count(); ++group)
        heights.push_back(std::ranges::max(heights_of(from.waveforms, group)));
    out.amplitudes.reserve(spikes);
    for (std::size_t spike = 0; spike < spikes; ++spike) {
        const auto [norm, depth] = place_of(from, spike);
        const double amplitude =
            out.in_microvolts ? from.amplitudes[spike] * heights[from.sorted.labels[spike]] : norm;
        out.amplitudes.push_back(static_cast<float>(amplitude));
        if (!from.channels.empty()) out.depths_um.push_back(static_cast<float>(depth));
    }
}

template <class Item>
constexpr io::npy_kind kind_of =
    std::is_floating_point_v<Item> ? io::npy_kind::real : io::npy_kind::natural;

template <class Item>
void add_array(io::zip_writer& archive, const char* name, const std::vector<Item>& items,
               std::vector<std::uint64_t> shape) {
    archive.begin(fmt::format("{}.npy", name));
    archive.write(io::format_npy_header({kind_of<Item>, sizeof(Item), false, std::move(shape)}));
    archive.write({reinterpret_cast<const char*>(items.data()), items.size() * sizeof(Item)});
}

/// Reads arrays that may be missing.
class details_file {
public:
    explicit details_file(const std::filesystem::path& path) : path_(path), archive_(path) {}

    template <class Item>
    std::vector<std::uint64_t> read(const char* name, std::vector<Item>& into) const {
        const io::zip_entry* const entry = archive_.find(fmt::format("{}.npy", name));
        if (entry == nullptr) return {};
        io::npy_reader array(archive_.open(*entry),
                             fmt::format("'{}', array '{}'", path_.string(), name));
        using number = std::conditional_t<std::is_floating_point_v<Item>, double, std::int64_t>;
        for (const number item : io::read_whole<number>(array))
            into.push_back(static_cast<Item>(item));
        return array.header().shape;
    }

    template <class Item>
    Item number(const char* name) const {
        std::vector<Item> items;
        read(name, items);
        return items.empty() ? Item{} : items.front();
    }

private:
    std::filesystem::path path_;
    io::zip_reader archive_;
};

}  // namespace

sorting_details details_of(const sorting_source& from) {
    sorting_details out{.unit_count = from.sorted.unit_count,
                        .sample_count = from.sorted.sample_count};
    take_positions(from.channels, out);
    take_waveforms(from, out);
    if (from.features != nullptr) take_places(from, out);
    return out;
}

void write_details(const std::filesystem::path& path, const sorting_details& details) {
    io::zip_writer archive(path);
    const std::uint64_t units = details.averaged.size();
    const std::uint64_t channels = details.channels_per_unit;
    add_array(archive, "unit_count", std::vector{details.unit_count}, {1});
    add_array(archive, "sample_count",
              std::vector{static_cast<std::uint64_t>(details.sample_count)}, {1});
    add_array(archive, "channel_x_um", details.x_um, {details.x_um.size()});
    add_array(archive, "channel_y_um", details.y_um, {details.y_um.size()});
    add_array(archive, "channel_shanks", details.shanks, {details.shanks.size()});
    add_array(archive, "unit_channels", details.channels, {units, channels});
    add_array(archive, "mean_waveforms", details.mean, {units, details.frames, channels});
    add_array(archive, "waveform_deviations", details.deviation, {units, details.frames, channels});
    add_array(archive, "waveform_peak", std::vector<std::uint64_t>{details.before}, {1});
    add_array(archive, "averaged_spikes", details.averaged, {units});
    if (!details.halves.empty()) {
        add_array(archive, "half_waveforms", details.halves, {2, units, details.frames, channels});
        add_array(archive, "averaged_spikes_of_halves", details.averaged_of_halves, {2, units});
    }
    const char* const amplitudes =
        details.in_microvolts ? "spike_amplitudes_uv" : "spike_feature_norms";
    add_array(archive, amplitudes, details.amplitudes, {details.amplitudes.size()});
    add_array(archive, "spike_depths_um", details.depths_um, {details.depths_um.size()});
    archive.commit();
}

sorting_details read_details(const std::filesystem::path& path) {
    sorting_details out;
    const details_file file(path);
    out.unit_count = file.number<std::uint32_t>("unit_count");
    out.sample_count = file.number<std::int64_t>("sample_count");
    file.read("channel_x_um", out.x_um);
    file.read("channel_y_um", out.y_um);
    file.read("channel_shanks", out.shanks);
    file.read("unit_channels", out.channels);
    const auto shape = file.read("mean_waveforms", out.mean);
    if (shape.size() == 3) {
        out.frames = shape[1];
        out.channels_per_unit = shape[2];
    }
    file.read("waveform_deviations", out.deviation);
    out.before = file.number<std::size_t>("waveform_peak");
    file.read("averaged_spikes", out.averaged);
    file.read("half_waveforms", out.halves);
    file.read("averaged_spikes_of_halves", out.averaged_of_halves);
    file.read("spike_amplitudes_uv", out.amplitudes);
    out.in_microvolts = !out.amplitudes.empty();
    if (!out.in_microvolts) file.read("spike_feature_norms", out.amplitudes);
    file.read("spike_depths_um", out.depths_um);
    return out;
}

bool fit_together(const sorting_details& details) {
    const std::size_t units = details.averaged.size();
    const std::size_t values = units * details.frames * details.channels_per_unit;
    const std::size_t channels = details.x_um.size();
    return details.y_um.size() == channels && details.shanks.size() == channels &&
           details.mean.size() == values && details.deviation.size() == values &&
           details.channels.size() == units * details.channels_per_unit &&
           (details.halves.empty() || (details.halves.size() == 2 * values &&
                                       details.averaged_of_halves.size() == 2 * units)) &&
           (channels == 0 ||
            std::ranges::all_of(details.channels, [&](std::uint32_t c) { return c < channels; }));
}

}  // namespace spikeweave::report
