#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/text.hpp"
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
    if (found.empty()) throw io::file_error(path, "holds no recording (structure.oebin)");
    if (found.size() > 1) {
        std::vector<std::string> folders;
        for (const fs::path& one : found)
            folders.push_back(fmt::format("'{}'", one.parent_path().string()));
        throw io::file_error(path, fmt::format("holds {} recordings, give the path of one: {}",
                                               found.size(), core::listed(folders)));
    }
    return found.front();
}

// Streams are in the recording's own folder, so a path that leaves it is invalid.
bool leads_elsewhere(const fs::path& folder) {
    return folder.is_absolute() ||
           std::find(folder.begin(), folder.end(), fs::path("..")) != folder.end();
}

// Whether a text has one of the words that name other inputs, such as "ADC1", "CH_SYNC" or
// "Auxiliary data channel".
bool names_other_input(const std::string& text) {
    std::string word;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const auto letter = static_cast<unsigned char>(i < text.size() ? text[i] : ' ');
        if (std::isalpha(letter) != 0) {
            word += static_cast<char>(std::tolower(letter));
            continue;
        }
        for (const char* other : {"adc", "aux", "auxiliary", "sync"})
            if (word == other) return true;
        word.clear();
    }
    return false;
}

// Distinguishes electrodes from analog inputs and lines of synchronization. Units do not show this:
// versions 0.4 and 0.5 call the volts of analog inputs microvolts, and later ones leave units out.
bool is_electrode(const json_file& file, const json& channel, const std::string& where,
                  const std::string& name) {
    const auto text = [&](const char* key) {
        return channel.contains(key) ? file.text(channel, where, key) : std::string{};
    };
    const std::string unit = text("units");
    return (unit.empty() || unit == "uV" || unit == "\u00b5V") && !names_other_input(name) &&
           !names_other_input(text("description"));
}

// The file has another name since version 0.6, in which the old one has times.
fs::path find_sample_numbers(const fs::path& folder) {
    const fs::path numbers = folder / "sample_numbers.npy";
    std::error_code failed;
    return fs::exists(numbers, failed) ? numbers : folder / "timestamps.npy";
}

// Appends the channels that are electrodes, and returns their numbers.
std::vector<std::size_t> read_electrodes(const json_file& file, const json& channels,
                                         const std::string& where, recording_description& what) {
    std::vector<std::size_t> kept;
    std::vector<std::string> left_out;
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const std::string which = fmt::format("{}, channel {}", where, c);
        std::string name = file.text(channels[c], which, "channel_name");
        if (!is_electrode(file, channels[c], which, name)) {
            left_out.push_back(io::shown(name));
            continue;
        }
        kept.push_back(c);
        what.channels.push_back(
            {.name = std::move(name), .gain_uv = file.number(channels[c], which, "bit_volts")});
    }
    if (kept.empty())
        file.fail(where,
                  fmt::format("has no electrode among its channels: {}", core::listed(left_out)));
    if (!left_out.empty())
        what.warnings.push_back(
            fmt::format("{} of {} channels are not electrodes and are left out: {}.",
                        left_out.size(), channels.size(), core::listed(left_out)));
    return kept;
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
    std::vector<std::size_t> kept = read_electrodes(file, channels, where, what);
    const fs::path folder = file.path().parent_path() / "continuous" / names[chosen];
    const fs::path samples = folder / "continuous.dat";
    const fs::path numbers = find_sample_numbers(folder);
    std::error_code failed;
    // A last frame that is incomplete, as after a crash, is left out if another file shows this.
    out.source = keep_channels(
        open_flat_file(
            {.path = samples, .stored = stored, .may_be_cut = fs::exists(numbers, failed)}),
        stored, std::move(kept));
    take_sample_numbers(numbers, out.source->frame_count(), what);
    what.files = {samples, file.path()};
    return out;
}

}  // namespace spikeweave::record
