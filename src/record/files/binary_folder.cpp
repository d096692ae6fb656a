#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "core/stop.hpp"
#include "io/atomic_file.hpp"
#include "io/file_error.hpp"
#include "io/npy.hpp"
#include "io/result_folder.hpp"
#include "record/files/json_file.hpp"
#include "record/files/readers.hpp"
#include "spikeweave/core/version.hpp"

namespace spikeweave {

using record::finite_number;
using record::json_file;
using record::probe_json;
using record::shown;

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr auto in_kwargs = "kwargs";
constexpr auto groups_file = "properties/group.npy";

// Reads a number for every channel; it is null if SpikeInterface does not know the numbers.
void read_scaling(const json_file& file, const json& kwargs, const char* key,
                  std::vector<recording_channel>& channels, double recording_channel::*into) {
    if (!kwargs.contains(key) || kwargs.at(key).is_null()) return;
    const json& list = file.array(kwargs, in_kwargs, key);
    const std::string where = fmt::format("{}, key '{}'", in_kwargs, key);
    if (list.size() != channels.size())
        file.fail(where, fmt::format("found {} numbers, expected {}, one per channel", list.size(),
                                     channels.size()));
    for (std::size_t c = 0; c < channels.size(); ++c)
        channels[c].*into = finite_number(file, list[c], where);
}

std::string name_of(const json_file& file, const json& id) {
    if (id.is_string()) return id.get<std::string>();
    if (!id.is_number())
        file.fail("kwargs, key 'channel_ids'",
                  fmt::format("found {}, expected texts or numbers", shown(id)));
    return id.dump();
}

std::vector<recording_channel> read_channels(const json_file& file, const json& kwargs) {
    const std::uint64_t n = file.whole(kwargs, in_kwargs, "num_channels");
    const json& ids = file.array(kwargs, in_kwargs, "channel_ids");
    if (n == 0 || ids.size() != n)
        file.fail("kwargs, key 'channel_ids'",
                  fmt::format("found {} channels, expected num_channels, {}, and at least 1",
                              ids.size(), n));
    std::vector<recording_channel> channels(n);
    for (std::size_t c = 0; c < n; ++c) channels[c].name = name_of(file, ids[c]);
    read_scaling(file, kwargs, "gain_to_uV", channels, &recording_channel::gain_uv);
    read_scaling(file, kwargs, "offset_to_uV", channels, &recording_channel::offset_uv);
    return channels;
}

// Reads when the only segment begins; SpikeInterface writes null for 0.
void read_begin(const json_file& file, const json& kwargs, recording_description& what) {
    constexpr auto key = "t_starts";
    constexpr auto where = "kwargs, key 't_starts'";
    if (!kwargs.contains(key) || kwargs.at(key).is_null()) return;
    const json& list = file.array(kwargs, in_kwargs, key);
    if (list.size() != 1)
        file.fail(where,
                  fmt::format("found {} times, expected 1, of the only segment", list.size()));
    if (list[0].is_null()) return;
    what.begin = io::time_in_file(file.path(), where, finite_number(file, list[0], where));
}

void check_layout(const json_file& file, const json& kwargs) {
    const std::string type = file.text(kwargs, in_kwargs, "dtype");
    if (type != "int16" && type != "<i2")
        file.fail("kwargs, key 'dtype'", fmt::format("found '{}', expected int16", type));
    if (kwargs.contains("time_axis") && kwargs.at("time_axis") != 0)
        file.fail("kwargs, key 'time_axis'",
                  fmt::format("found {}, expected 0: one frame after another",
                              shown(kwargs.at("time_axis"))));
}

json binary_json(const recording_description& what) {
    json ids = json::array();
    json gains = json::array();
    json offsets = json::array();
    json begins;
    if (what.begin != duration{0}) begins = json::array({to_seconds(what.begin)});
    for (const recording_channel& channel : what.channels) {
        ids.push_back(channel.name);
        gains.push_back(channel.gain_uv);
        offsets.push_back(channel.offset_uv);
    }
    return {{"class", "spikeinterface.core.binaryrecordingextractor.BinaryRecordingExtractor"},
            {"module", "spikeinterface"},
            {"version", fmt::format("spikeweave {}", version())},
            {"kwargs",
             {{"file_paths", {"traces.raw"}},
              {"sampling_frequency", what.rate_hz},
              {"t_starts", begins},
              {"num_channels", what.channels.size()},
              {"dtype", "int16"},
              {"channel_ids", ids},
              {"time_axis", 0},
              {"file_offset", 0},
              {"gain_to_uV", gains},
              {"offset_to_uV", offsets},
              {"is_filtered", false}}},
            {"annotations", json::object()},
            {"properties", json::object()},
            {"relative_paths", true}};
}

// The file that SpikeInterface's `load` searches for. It reads only folders that name a version of
// SpikeInterface: the first one with this layout.
json si_folder_json() {
    json out;
    out["class"] = "spikeinterface.core.binaryfolder.BinaryFolderRecording";
    out["module"] = "spikeinterface";
    out["version"] = "0.103.0";
    out["kwargs"]["folder_path"] = ".";
    out["annotations"] = json::object();
    out["properties"] = json::object();
    out["relative_paths"] = true;
    return out;
}

// The shank of each channel, as SpikeInterface's property `group`, which some sorters cannot do
// without.
std::string group_array(const std::vector<recording_channel>& channels) {
    std::vector<std::int64_t> groups;
    groups.reserve(channels.size());
    for (const recording_channel& channel : channels) groups.push_back(channel.shank);
    std::string out = io::format_npy_header(
        {io::npy_kind::integer, sizeof(std::int64_t), false, {groups.size()}});
    out.append(reinterpret_cast<const char*>(groups.data()), groups.size() * sizeof(std::int64_t));
    return out;
}

void make_folder(const fs::path& path) {
    std::error_code error;
    if (!fs::create_directory(path, error))
        throw io::file_error(path, "cannot be made: " + error.message());
}

}  // namespace

namespace record {

opened read_binary_folder(const opening& job) {
    const fs::path folder =
        fs::is_directory(job.path) ? job.path : fs::absolute(job.path).parent_path();
    const json_file file(folder / "binary.json");
    const json& kwargs = file.at(file.root(), "", in_kwargs);
    check_layout(file, kwargs);
    const json& paths = file.array(kwargs, in_kwargs, "file_paths");
    if (paths.size() != 1 || !paths[0].is_string())
        file.fail("kwargs, key 'file_paths'",
                  fmt::format("found {} files, each a segment, expected 1: in SpikeInterface, "
                              "recording.select_segments([0]).save(folder=...) makes a folder of "
                              "one",
                              paths.size()));

    opened out;
    out.description.rate_hz = checked_rate(file.path(), "kwargs, key 'sampling_frequency'",
                                           file.number(kwargs, in_kwargs, "sampling_frequency"));
    out.description.channels = read_channels(file, kwargs);
    const std::size_t channels = out.description.channels.size();
    const std::uint64_t offset = kwargs.contains("file_offset") && !kwargs["file_offset"].is_null()
                                     ? file.whole(kwargs, in_kwargs, "file_offset")
                                     : 0;
    const fs::path samples = folder / paths[0].get<std::string>();
    out.source = open_flat_file({samples, offset, channels});
    out.description.files = {samples, file.path()};
    read_begin(file, kwargs, out.description);
    take_sample_numbers(folder / "times_cached_seg0.npy", out.source->frame_count(),
                        out.description);
    std::error_code unknown;
    // The second is the name since SpikeInterface 0.105.
    for (const char* name : {"probe.json", "probegroup.json"}) {
        const fs::path probe = folder / name;
        if (!job.how.probe.empty() || !fs::exists(probe, unknown)) continue;
        place_by_probe_file(probe, out);
        out.description.positions = position_source::file;
        break;
    }
    return out;
}

}  // namespace record

struct recording_writer::parts {
    parts(const fs::path& target, bool overwrite, const std::vector<std::string>& other_files,
          std::size_t frame_channels)
        : channels(frame_channels),
          folder(target, overwrite, names(other_files)),
          samples(folder.file("traces.raw")) {}

    // The returned views are used only while the folder is created.
    static std::vector<std::string_view> names(const std::vector<std::string>& other_files) {
        std::vector<std::string_view> all{"binary.json", "probe.json", groups_file,
                                          "si_folder.json", "traces.raw"};
        all.insert(all.end(), other_files.begin(), other_files.end());
        return all;
    }

    std::size_t channels;
    io::result_folder folder;
    io::atomic_file samples;
};

recording_writer::recording_writer(const fs::path& folder, recording_description description,
                                   bool overwrite, const std::vector<std::string>& other_files) {
    const recording checked(std::move(description), std::vector<std::int16_t>{});
    parts_ = std::make_unique<parts>(folder, overwrite, other_files, checked.channel_count());
    parts_->folder.write("binary.json", binary_json(checked.description()).dump(1) + "\n");
    parts_->folder.write("si_folder.json", si_folder_json().dump(1) + "\n");
    parts_->folder.write("probe.json", probe_json(checked.channels()));
    make_folder(parts_->folder.file(groups_file).parent_path());
    parts_->folder.write(groups_file, group_array(checked.channels()));
}

recording_writer::~recording_writer() = default;
recording_writer::recording_writer(recording_writer&&) noexcept = default;
recording_writer& recording_writer::operator=(recording_writer&&) noexcept = default;

void recording_writer::append(std::span<const std::int16_t> frames) {
    if (frames.size() % parts_->channels != 0)
        throw invalid_argument(fmt::format("{} samples are not whole frames of {} channels",
                                           frames.size(), parts_->channels));
    parts_->samples.write({reinterpret_cast<const char*>(frames.data()), frames.size_bytes()});
}

fs::path recording_writer::file(std::string_view name) const {
    return parts_->folder.file(name);
}

void recording_writer::commit(const execution& run) {
    core::throw_if_stopped(run.stop);
    parts_->samples.commit();
    parts_->folder.commit(run.stop);
}

}  // namespace spikeweave
