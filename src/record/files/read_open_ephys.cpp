#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/file_error.hpp"
#include "record/files/json_file.hpp"
#include "record/files/readers.hpp"

namespace spikeweave::record {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path find_structure(const fs::path& path) {
    if (!fs::is_directory(path)) return path;
    if (fs::exists(path / "structure.oebin")) return path / "structure.oebin";
    const std::vector<fs::path> found = files_below(path, "structure.oebin");
    if (found.size() != 1) {
        std::string list;
        for (const fs::path& one : found)
            list += fmt::format(" '{}'", fs::relative(one.parent_path(), path).string());
        throw io::file_error(
            path, fmt::format("holds {} recordings, of which one has to be named:{}", found.size(),
                              list));
    }
    return found.front();
}

// Streams are in the recording's own folder, so a path that leaves it is invalid.
bool leads_elsewhere(const fs::path& folder) {
    return folder.is_absolute() ||
           std::find(folder.begin(), folder.end(), fs::path("..")) != folder.end();
}

// Distinguishes electrodes from analog inputs, which are in volts or, in files without units, have
// names that say so.
bool is_electrode(const json_file& file, const json& channel, const std::string& where,
                  const std::string& name) {
    const std::string unit = channel.contains("units") ? file.text(channel, where, "units") : "";
    return unit.empty()
               ? name.find("ADC") == std::string::npos && name.find("AUX") == std::string::npos
               : unit == "uV";
}

}  // namespace

opened read_open_ephys(const opening& job) {
    const json_file file(find_structure(job.path));
    const json& streams = file.array(file.root(), "", "continuous");
    std::vector<std::string> names;
    for (std::size_t s = 0; s < streams.size(); ++s) {
        std::string name = file.text(streams[s], fmt::format("continuous {}", s), "folder_name");
        while (name.ends_with('/')) name.pop_back();
        if (leads_elsewhere(name))
            file.fail(
                fmt::format("continuous {}, key 'folder_name'", s),
                fmt::format("found {}, expected a folder of this recording", io::shown(name)));
        names.push_back(std::move(name));
    }
    const std::size_t chosen = choose_stream(file.path(), names, job.how.stream, "stream");
    const json& stream = streams[chosen];
    const std::string where = fmt::format("continuous {}", chosen);

    opened out;
    recording_description& what = out.description;
    what.rate_hz = checked_rate(file.path(), where + ", key 'sample_rate'",
                                file.number(stream, where, "sample_rate"));
    const json& channels = file.array(stream, where, "channels");
    const std::uint64_t stored = file.whole(stream, where, "num_channels");
    if (channels.size() != stored)
        file.fail(
            where + ", key 'channels'",
            fmt::format("found {} channels, expected num_channels, {}", channels.size(), stored));
    std::vector<std::size_t> kept;
    for (std::size_t c = 0; c < stored; ++c) {
        const std::string which = fmt::format("{}, channel {}", where, c);
        std::string name = file.text(channels[c], which, "channel_name");
        if (!is_electrode(file, channels[c], which, name)) continue;
        kept.push_back(c);
        what.channels.push_back(
            {.name = std::move(name), .gain_uv = file.number(channels[c], which, "bit_volts")});
    }
    if (kept.empty()) file.fail(where, "has no electrode among its channels");
    if (kept.size() < stored)
        what.warnings.push_back(fmt::format("{} of {} channels are no electrodes and are left out.",
                                            stored - kept.size(), stored));
    const fs::path samples =
        file.path().parent_path() / "continuous" / names[chosen] / "continuous.dat";
    out.source = open_flat_file({samples, 0, stored, std::move(kept)});
    what.files = {samples, file.path()};
    return out;
}

}  // namespace spikeweave::record
