#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/stop.hpp"
#include "io/file_error.hpp"
#include "io/foreign_file.hpp"
#include "io/random_file.hpp"
#include "record/files/readers.hpp"

namespace spikeweave {

using record::files_below;
using record::is_nwb_recording;
using record::opened;
using record::opening;
using record::place_by_probe_file;
using record::place_on_a_line;
using record::read_binary_folder;
using record::read_nwb_recording;
using record::read_open_ephys;
using record::read_raw;
using record::read_spikeglx;

namespace {

namespace fs = std::filesystem;

// Several times as many as the largest arrays record at once.
constexpr std::uint64_t most_channels = std::uint64_t{1} << 17;

bool is_hdf5(const fs::path& path) {
    constexpr std::string_view magic = "\x89HDF\r\n\x1a\n";
    const io::random_file file(path);
    std::string head(std::min<std::uint64_t>(magic.size(), file.size()), '\0');
    file.read_at(0, head);
    return head == magic;
}

opened open_as(recording_format format, const opening& job) {
    switch (format) {
        case recording_format::binary:
            return read_binary_folder(job);
        case recording_format::spikeglx:
            return read_spikeglx(job);
        case recording_format::open_ephys:
            return read_open_ephys(job);
        case recording_format::nwb:
            return read_nwb_recording(job);
        default:
            return read_raw(job);
    }
}

}  // namespace

template <>
enum_table<recording_format> enum_names<recording_format>() {
    using enum recording_format;
    static constexpr named_value<recording_format> values[]{
        {automatic, "auto"},        {raw, "raw"}, {binary, "binary"}, {spikeglx, "spikeglx"},
        {open_ephys, "open-ephys"}, {nwb, "nwb"}};
    return {"format of recordings", values};
}

std::string_view to_string(position_source source) {
    switch (source) {
        case position_source::file:
            return "file";
        case position_source::probe_file:
            return "probe file";
        case position_source::assumed:
            return "assumed";
    }
    return "unknown";
}

bool is_recording(const fs::path& path, const recording_read_options& how, const execution& run) {
    return how.sample_rate != 0 || how.channels != 0 ||
           find_recording_format(path, run).has_value();
}

std::optional<recording_format> find_recording_format(const fs::path& path, const execution& run) {
    std::error_code unknown;
    const std::string name = path.filename().string();
    if (fs::is_directory(path, unknown)) {
        if (fs::exists(path / "binary.json", unknown)) return recording_format::binary;
        // Sorted spikes are often stored beside the recording that they came from.
        for (const char* part : {"params.py", "spike_times.npy"})
            if (fs::exists(path / part, unknown)) return std::nullopt;
        if (!files_below(path, "structure.oebin").empty()) return recording_format::open_ephys;
        if (!files_below(path, ".meta").empty()) return recording_format::spikeglx;
        return std::nullopt;
    }
    if (name == "binary.json") return recording_format::binary;
    if (name == "structure.oebin") return recording_format::open_ephys;
    if (name.ends_with(".meta")) return recording_format::spikeglx;
    if (name.ends_with(".bin") && fs::exists(fs::path(path).replace_extension(".meta"), unknown))
        return recording_format::spikeglx;
    if (fs::is_regular_file(path, unknown) && is_hdf5(path) && is_nwb_recording(path, run.stop))
        return recording_format::nwb;
    return std::nullopt;
}

recording read_recording(const fs::path& path, const recording_read_options& how,
                         const execution& run) {
    core::throw_if_stopped(run.stop);
    std::error_code unknown;
    if (!fs::exists(path, unknown)) throw io::file_error(path, "does not exist");
    recording_format format = how.format;
    const bool is_file = fs::is_regular_file(path, unknown);
    if (format == recording_format::automatic && is_file &&
        (how.sample_rate != 0 || how.channels != 0))
        format = recording_format::raw;
    if (format == recording_format::automatic) {
        const bool hdf5 = is_file && is_hdf5(path);
        format = find_recording_format(path, run).value_or(hdf5 ? recording_format::nwb
                                                                : recording_format::raw);
        if (format == recording_format::raw && fs::is_directory(path, unknown))
            throw io::file_error(
                path,
                fmt::format("is a folder without binary.json, structure.oebin or a .meta file, "
                            "expected one of them or a file{}",
                            io::about_foreign_files(path)));
        if (hdf5) io::refuse_foreign_file(path);
    }
    const bool has_raw_options =
        how.sample_rate != 0 || how.channels != 0 || how.gain != 0 || how.header_bytes != 0;
    if (format != recording_format::raw && has_raw_options)
        throw invalid_argument(fmt::format(
            "'{}' is read as {}, which states its rate, channels, gain and offset itself",
            path.string(), to_string(format)));

    if (!how.stream.empty() &&
        (format == recording_format::raw || format == recording_format::binary))
        throw invalid_argument(fmt::format("'{}' is read as {}, which has no streams, found {}",
                                           path.string(), to_string(format),
                                           io::shown(how.stream)));

    opened found = open_as(format, {path, how, run});
    recording_description& what = found.description;
    what.path = path;
    what.format = format;
    if (!how.probe.empty()) {
        place_by_probe_file(how.probe, found);
    } else if (what.positions == position_source::assumed) {
        place_on_a_line(what.channels);
        what.warnings.emplace_back(
            "No positions of the channels were found: they are put on a line, 20 um apart.");
    }
    try {
        return {std::move(what), std::move(found.source)};
    } catch (const invalid_argument& error) {
        throw io::file_error(path, error.what());
    }
}

recording recording::with_probe(const fs::path& probe) const {
    opened placed{.description = description_, .source = source_};
    place_by_probe_file(probe, placed);
    return {std::move(placed.description), std::move(placed.source)};
}

namespace record {
namespace {

// A file of 32-bit floats has an ordinary number of either sign in every two samples. Traces of
// 16 bits have none in most pairs, because the exponent of a float is in the upper sample.
bool may_hold_floats(const sample_source& source, std::size_t channels) {
    constexpr std::size_t most_samples = std::size_t{1} << 14;
    constexpr std::size_t enough = 100;
    constexpr float smallest = 1e-15F;
    constexpr float largest = 1e7F;
    const std::uint64_t frames = std::min<std::uint64_t>(
        source.frame_count(), std::max<std::size_t>(most_samples / channels, 1));
    std::vector<std::int16_t> samples(static_cast<std::size_t>(frames) * channels);
    source.read(0, samples);
    std::size_t positive = 0;
    std::size_t negative = 0;
    for (std::size_t i = 0; i + 1 < samples.size(); i += 2) {
        const std::array<std::int16_t, 2> pair{samples[i], samples[i + 1]};
        const auto value = std::bit_cast<float>(pair);
        if (value == 0) continue;
        if (!(std::abs(value) > smallest && std::abs(value) < largest)) return false;
        ++(value > 0 ? positive : negative);
    }
    return positive >= enough && negative >= enough;
}

}  // namespace

opened read_raw(const opening& job) {
    const recording_read_options& how = job.how;
    if (how.sample_rate == 0 || how.channels == 0) {
        io::refuse_foreign_file(job.path);
        throw invalid_argument(
            fmt::format("'{}' holds raw samples without their number of channels and sample rate: "
                        "give both `channels` and `sample_rate`",
                        job.path.string()));
    }
    if (how.channels > most_channels)
        throw invalid_argument(fmt::format("'{}' cannot have {} channels: at most {} are read",
                                           job.path.string(), how.channels, most_channels));
    opened out;
    out.description.files = {job.path};
    out.description.rate_hz = how.sample_rate;
    out.description.header_bytes = how.header_bytes;
    out.description.channels = numbered_channels(how.channels);
    for (recording_channel& channel : out.description.channels)
        channel.gain_uv = how.gain == 0 ? 1 : how.gain;
    if (how.gain == 0)
        out.description.warnings.emplace_back(
            "The gain is not known: one count is assumed to be one microvolt.");
    out.source = open_flat_file({job.path, how.header_bytes, how.channels});
    if (may_hold_floats(*out.source, how.channels))
        out.description.warnings.emplace_back(
            "The file may hold 32-bit floats, since every two samples look like one; it is read as "
            "int16: write it with x.astype('int16').tofile(...).");
    return out;
}

std::vector<recording_channel> numbered_channels(std::size_t n, std::string_view prefix) {
    std::vector<recording_channel> channels(n);
    for (std::size_t c = 0; c < n; ++c) channels[c].name = fmt::format("{}{}", prefix, c);
    return channels;
}

std::vector<std::size_t> all_below(std::size_t n) {
    std::vector<std::size_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    return numbers;
}

std::vector<fs::path> files_below(const fs::path& folder, std::string_view ending) {
    constexpr int deepest = 5;
    constexpr auto options = fs::directory_options::skip_permission_denied;
    std::vector<fs::path> found;
    std::error_code failed;
    for (auto at = fs::recursive_directory_iterator(folder, options, failed);
         !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
        if (at.depth() >= deepest) at.disable_recursion_pending();
        if (at->path().filename().string().ends_with(ending)) found.push_back(at->path());
    }
    if (failed)
        throw io::file_error(folder, fmt::format("cannot be searched: {}", failed.message()));
    std::sort(found.begin(), found.end());
    return found;
}

std::size_t choose_stream(const fs::path& path, const std::vector<std::string>& names,
                          const std::string& wanted, std::string_view what) {
    if (wanted.empty() && names.size() == 1) return 0;
    const auto found = std::find(names.begin(), names.end(), wanted);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    if (names.empty()) throw io::file_error(path, fmt::format("holds no {}", what));
    const std::string wrong =
        wanted.empty() ? fmt::format("holds more than one {}, name one with `stream`", what)
                       : fmt::format("has no {} named '{}'", what, wanted);
    std::vector<std::string> listed;  // as text of the file, which need not be printable
    for (const std::string& name : names)
        listed.push_back(io::is_printable_utf8(name) ? name : io::shown(name));
    throw io::file_error(path, fmt::format("{}; it has {}", wrong, fmt::join(listed, ", ")));
}

void check_channels(const fs::path& path, std::string_view key, std::uint64_t count) {
    if (count > most_channels)
        throw io::file_error(
            path, key, fmt::format("found {} channels, expected at most {}", count, most_channels));
}

double checked_rate(const fs::path& path, std::string_view key, double rate_hz) {
    constexpr double lowest_hz = 1e-3;  // so that times do not overflow
    constexpr double highest_hz = 1e6;
    if (!(rate_hz >= lowest_hz && rate_hz <= highest_hz))
        throw io::file_error(path, key,
                             fmt::format("found {}, expected samples a second, from 0.001 to "
                                         "1,000,000",
                                         rate_hz));
    return rate_hz;
}

}  // namespace record

}  // namespace spikeweave
