#include "record/files/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "io/file_error.hpp"
#include "record/files/json_file.hpp"

namespace spikeweave::record {
namespace {

using nlohmann::json;

struct contact {
    double x_um;
    double y_um;
    std::uint32_t shank;
};

double micrometres_of(const json_file& file, const json& probe, std::string_view where) {
    const std::string unit = file.text(probe, where, "si_units");
    if (unit == "um") return 1;
    if (unit == "mm") return 1e3;
    if (unit == "m") return 1e6;
    file.fail(where, fmt::format("found si_units '{}', expected um, mm or m", unit));
}

contact read_contact(const json_file& file, const json& at, double scale,
                     const std::string& where) {
    if (!at.is_array() || at.size() < 2)
        file.fail(where, fmt::format("found {}, expected a list of 2 or 3 numbers", shown(at)));
    return {finite_number(file, at[0], where) * scale, finite_number(file, at[1], where) * scale,
            0};
}

// Numbers shanks, which have arbitrary names, in the order of their first contacts over all probes.
class shank_numbers {
public:
    std::uint32_t of(std::size_t probe, const std::string& name) {
        const auto next = static_cast<std::uint32_t>(numbers_.size());
        return numbers_.try_emplace({probe, name}, next).first->second;
    }

private:
    std::map<std::pair<std::size_t, std::string>, std::uint32_t> numbers_;
};

// Returns the list with an entry for each contact, or null if the probe has none of that name.
const json* list_of(const json_file& file, const json& probe, const std::string& where,
                    const char* key, std::size_t contacts) {
    if (!probe.contains(key) || probe.at(key).is_null()) return nullptr;
    const json& list = file.array(probe, where, key);
    if (list.empty()) return nullptr;
    if (list.size() != contacts)
        file.fail(
            fmt::format("{}, key '{}'", where, key),
            fmt::format("found {} entries, expected {}, one per contact", list.size(), contacts));
    return &list;
}

}  // namespace

std::vector<std::size_t> place_by_probe_file(const std::filesystem::path& path,
                                             std::vector<recording_channel>& channels) {
    const json_file file(path);
    const json& probes = file.array(file.root(), "", "probes");
    std::vector<std::optional<contact>> placed(channels.size());
    shank_numbers shanks;
    std::size_t in_order = 0;
    for (std::size_t p = 0; p < probes.size(); ++p) {
        const std::string where = fmt::format("probe {}", p);
        const json& probe = probes[p];
        const double scale = micrometres_of(file, probe, where);
        const json& positions = file.array(probe, where, "contact_positions");
        const json* const wired =
            list_of(file, probe, where, "device_channel_indices", positions.size());
        const json* const on_shank = list_of(file, probe, where, "shank_ids", positions.size());
        for (std::size_t c = 0; c < positions.size(); ++c) {
            const std::string which = fmt::format("{}, contact {}", where, c);
            contact at = read_contact(file, positions[c], scale, which);
            at.shank = shanks.of(p, on_shank == nullptr ? "" : (*on_shank)[c].dump());
            // The largest numbers would become negative as an int64.
            if (wired != nullptr && (!(*wired)[c].is_number_integer() ||
                                     ((*wired)[c].is_number_unsigned() &&
                                      (*wired)[c].get<std::uint64_t>() > INT64_MAX)))
                file.fail(which, fmt::format("found device_channel_indices {}, expected a channel",
                                             shown((*wired)[c])));
            const std::int64_t channel = wired != nullptr ? (*wired)[c].get<std::int64_t>()
                                                          : static_cast<std::int64_t>(in_order++);
            if (channel == -1) continue;  // a contact that is not connected
            if (channel < 0 || static_cast<std::size_t>(channel) >= channels.size())
                file.fail(which, fmt::format("found channel {}, expected 0 to {}: the recording "
                                             "has {} channels",
                                             channel, channels.size() - 1, channels.size()));
            std::optional<contact>& place = placed[static_cast<std::size_t>(channel)];
            if (place) file.fail(which, fmt::format("channel {} has a contact already", channel));
            place = at;
        }
    }
    std::vector<std::size_t> kept;
    std::vector<std::size_t> without;
    for (std::size_t c = 0; c < channels.size(); ++c) {
        if (!placed[c]) {
            without.push_back(c);
            continue;
        }
        kept.push_back(c);
        channels[c].x_um = placed[c]->x_um;
        channels[c].y_um = placed[c]->y_um;
        channels[c].shank = placed[c]->shank;
    }
    // Contacts in order that are too few may be those of any channels.
    if (!without.empty() && (kept.empty() || in_order > 0))
        file.fail("probes", fmt::format("channel {} of {} has no contact, expected one for each "
                                        "channel, or device_channel_indices, which name the "
                                        "channel of each contact, so that others are left out",
                                        without.front(), channels.size()));
    return kept;
}

void place_by_probe_file(const std::filesystem::path& probe, opened& what) {
    std::vector<recording_channel>& channels = what.description.channels;
    const std::size_t all = channels.size();
    std::vector<std::size_t> kept = place_by_probe_file(probe, channels);
    what.description.positions = position_source::probe_file;
    // If a recording has no files, the first one would be mistaken for its samples.
    if (!what.description.files.empty()) what.description.files.push_back(probe);
    if (kept.size() == all) return;
    std::vector<recording_channel> with_contacts;
    std::vector<std::string> without;
    for (std::size_t c = 0; c < all; ++c)
        if (std::binary_search(kept.begin(), kept.end(), c))
            with_contacts.push_back(std::move(channels[c]));
        else
            without.push_back(io::shown(channels[c].name));
    channels = std::move(with_contacts);
    what.source = keep_channels(std::move(what.source), all, std::move(kept));
    what.description.warnings.push_back(
        fmt::format("{} of {} channels have no contact in '{}' and are left out: {}.",
                    without.size(), all, probe.filename().string(), core::listed(without)));
}

void place_on_a_line(std::vector<recording_channel>& channels) {
    constexpr double pitch_um = 20;
    for (std::size_t c = 0; c < channels.size(); ++c) {
        channels[c].x_um = 0;
        channels[c].y_um = pitch_um * static_cast<double>(c);
        channels[c].shank = 0;
    }
}

std::string probe_json(const std::vector<recording_channel>& channels) {
    json probe = {{"ndim", 2},
                  {"si_units", "um"},
                  {"annotations", {{"name", "spikeweave"}}},
                  {"contact_annotations", json::object()},
                  {"contact_positions", json::array()},
                  {"contact_plane_axes", json::array()},
                  {"contact_shapes", json::array()},
                  {"contact_shape_params", json::array()},
                  {"device_channel_indices", json::array()},
                  {"shank_ids", json::array()}};
    for (std::size_t c = 0; c < channels.size(); ++c) {
        probe["contact_positions"].push_back({channels[c].x_um, channels[c].y_um});
        probe["contact_plane_axes"].push_back({{1.0, 0.0}, {0.0, 1.0}});
        probe["contact_shapes"].push_back("circle");
        probe["contact_shape_params"].push_back({{"radius", 6.0}});
        probe["device_channel_indices"].push_back(c);
        probe["shank_ids"].push_back(std::to_string(channels[c].shank));
    }
    const json document = {{"specification", "probeinterface"},
                           {"version", "0.2.21"},
                           {"probes", json::array({probe})}};
    return document.dump(1) + "\n";
}

}  // namespace spikeweave::record
