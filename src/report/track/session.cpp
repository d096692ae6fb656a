#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "report/sort/details.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/report/track.hpp"
#include "spikeweave/sort/files.hpp"
#include "spikeweave/spikes/files.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave {
namespace {

using report::sorting_details;

sorting_details details_in(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / "waveforms.npz";
    if (!std::filesystem::exists(path) || !std::filesystem::exists(folder / "spikes.npz"))
        throw io_error(fmt::format(
            "'{}': found no waveforms.npz and spikes.npz, expected a folder that spikeweave sort "
            "wrote for a recording",
            folder.string()));
    sorting_details out = report::read_details(path);
    if (!report::fit_together(out) || out.averaged.empty() || out.x_um.empty())
        throw io_error(
            fmt::format("'{}': found no mean waveforms with the positions of their "
                        "channels, expected those of a sorted recording",
                        path.string()));
    return out;
}

// One unit's part of an array of waveforms.
std::vector<float> waveform_of(const sorting_details& details, std::span<const float> all,
                               std::size_t unit) {
    const std::size_t size = details.frames * details.channels_per_unit;
    const auto own = all.subspan(unit * size, size);
    return {own.begin(), own.end()};
}

unit_footprint footprint_of(const sorting_details& details, std::size_t unit) {
    // Fewer spikes say little about how a waveform varies.
    constexpr std::uint64_t fewest = 10;
    const std::size_t units = details.averaged.size();
    const auto first =
        details.channels.begin() + static_cast<std::ptrdiff_t>(unit * details.channels_per_unit);
    unit_footprint out{
        .channels = {first, first + static_cast<std::ptrdiff_t>(details.channels_per_unit)},
        .mean = waveform_of(details, details.mean, unit)};
    if (details.halves.empty() || std::min(details.averaged_of_halves[unit],
                                           details.averaged_of_halves[units + unit]) < fewest)
        return out;
    for (std::size_t h = 0; h < out.halves.size(); ++h)
        out.halves[h] = waveform_of(details, details.halves, h * units + unit);
    return out;
}

}  // namespace

session_spikes read_session(const std::filesystem::path& folder,
                            const std::vector<std::string>& labels, const execution& run) {
    const sorting_details details = details_in(folder);
    session_spikes out{.input = describe_input(folder / "waveforms.npz", run)};
    spike_read_options reading;
    reading.labels = labels;
    out.spikes = read_spikes(folder / "spikes.npz", reading, run).spikes;
    out.session.name = folder.string();
    out.session.rate_hz = read_sorting(folder / "sorting.npz").sample_rate;
    out.session.frames = details.frames;
    out.session.before = details.before;
    for (std::size_t c = 0; c < details.x_um.size(); ++c)
        out.session.channels.push_back({.name = std::to_string(c),
                                        .x_um = details.x_um[c],
                                        .y_um = details.y_um[c],
                                        .shank = details.shanks[c]});
    const spike_trains trains(out.spikes);
    for (std::uint32_t u = 0; u < out.spikes.unit_count(); ++u) {
        const std::string& name = out.spikes.name(unit_id{u});
        // A sorting numbers its units from 1.
        const std::size_t number = std::stoul(name);
        if (number == 0 || number > details.averaged.size())
            throw io_error(fmt::format("'{}': unit {} has no waveform among {}", folder.string(),
                                       name, details.averaged.size()));
        unit_footprint unit = footprint_of(details, number - 1);
        unit.name = name;
        unit.spikes = trains.count(unit_id{u});
        unit.autocorrelogram = autocorrelogram_of(trains.times_us(unit_id{u}));
        out.session.units.push_back(std::move(unit));
    }
    return out;
}

}  // namespace spikeweave
