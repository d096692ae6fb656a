#include "report/unit_places.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "report/sort/details.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::report {
namespace {

// Of a result of `sort`, if its folder, or the spikes in it, are there.
std::optional<sorting_details> details_of(const std::filesystem::path& path) {
    std::error_code unknown;
    const std::filesystem::path folder =
        path.filename() == "spikes.npz" ? path.parent_path() : path;
    for (const char* const name : {"sorting.npz", "waveforms.npz"})
        if (!std::filesystem::exists(folder / name, unknown)) return std::nullopt;
    try {
        return read_details(folder / "waveforms.npz");
    } catch (const io_error&) {
        return std::nullopt;  // a page of the spikes does without places
    }
}

// The peak-to-peak height of the mean waveform of a unit on one of the channels around its peak.
double height_of(const sorting_details& details, std::size_t unit, std::size_t k) {
    float low = 0;
    float high = 0;
    for (std::size_t frame = 0; frame < details.frames; ++frame) {
        const float value =
            details.mean[(unit * details.frames + frame) * details.channels_per_unit + k];
        low = frame == 0 ? value : std::min(low, value);
        high = frame == 0 ? value : std::max(high, value);
    }
    return double{high} - double{low};
}

std::optional<unit_place> place_of(const sorting_details& details, std::size_t unit) {
    double x = 0;
    double y = 0;
    double all = 0;
    for (std::size_t k = 0; k < details.channels_per_unit; ++k) {
        const std::uint32_t channel = details.channels[unit * details.channels_per_unit + k];
        const double height = height_of(details, unit, k);
        x += height * height * details.x_um[channel];
        y += height * height * details.y_um[channel];
        all += height * height;
    }
    if (!(all > 0)) return std::nullopt;
    return unit_place{x / all, y / all};
}

}  // namespace

unit_places places_of(const spike_sequence& spikes, const std::filesystem::path& path) {
    unit_places out = spikes.places();
    if (!out.empty()) return out;
    const auto details = details_of(path);
    if (!details || !fit_together(*details) || details->x_um.empty() || details->mean.empty())
        return out;
    for (const std::string& name : spikes.unit_names()) {
        std::size_t unit = 0;
        const char* const end = name.data() + name.size();
        const auto read = std::from_chars(name.data(), end, unit);
        const bool is_known = read.ec == std::errc{} && read.ptr == end && unit >= 1 &&
                              unit <= details->averaged.size();
        const auto place = is_known ? place_of(*details, unit - 1) : std::nullopt;
        if (place) out.emplace(name, *place);
    }
    return out;
}

json columns_of(const unit_places& places, const std::vector<std::string>& names) {
    if (places.empty()) return nullptr;
    json columns{{"x_um", json::array()}, {"y_um", json::array()}};
    for (const std::string& name : names) {
        const auto place = places.find(name);
        const bool is_known = place != places.end();
        columns["x_um"].push_back(is_known ? json(place->second.x_um) : json());
        columns["y_um"].push_back(is_known ? json(place->second.y_um) : json());
    }
    return columns;
}

unit_places places_in(const json& page, const std::vector<std::string>& names) {
    unit_places out;
    const auto columns = page.find("places");
    if (columns == page.end() || columns->is_null()) return out;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const json& x = columns->at("x_um").at(i);
        const json& y = columns->at("y_um").at(i);
        if (!x.is_null() && !y.is_null()) out.emplace(names[i], unit_place{x, y});
    }
    return out;
}

}  // namespace spikeweave::report
