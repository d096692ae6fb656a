#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/text.hpp"
#include "io/file_error.hpp"
#include "record/files/readers.hpp"
#include "record/files/spikeglx_probe.hpp"

namespace spikeweave::record {
namespace {

namespace fs = std::filesystem;

// Returns the numbers of the acquired channels that were saved: "all", or "0:383,768".
std::vector<std::uint64_t> saved_channels(const meta_file& meta, std::size_t stored) {
    constexpr auto key = "snsSaveChanSubset";
    std::vector<std::uint64_t> numbers;
    const std::string text = meta.has(key) ? meta.text(key) : "all";
    if (text == "all") {
        for (std::uint64_t c = 0; c < stored; ++c) numbers.push_back(c);
        return numbers;
    }
    // Checked before they are listed, because a short text may name any number of channels.
    const auto refuse_more = [&](std::uint64_t count) {
        if (count > stored)
            meta.fail(key, fmt::format("found {}, expected nSavedChans, {} channels",
                                       io::shown(text), stored));
    };
    refuse_more(static_cast<std::uint64_t>(std::count(text.begin(), text.end(), ',')) + 1);
    for (const std::string_view part : core::split(text, ",")) {
        const std::size_t colon = part.find(':');
        const auto first = whole_number_in(part.substr(0, colon));
        const auto last =
            colon == std::string_view::npos ? first : whole_number_in(part.substr(colon + 1));
        if (!first || !last || *last < *first || *last - *first >= stored)
            meta.fail(key,
                      fmt::format("found {}, expected channels as 0:383,768", io::shown(part)));
        const std::uint64_t count = *last - *first + 1;
        refuse_more(numbers.size() + count);
        for (std::uint64_t c = 0; c < count; ++c) numbers.push_back(*first + c);
    }
    if (numbers.size() != stored)
        meta.fail(key, fmt::format("found {} channels, expected nSavedChans, {}", numbers.size(),
                                   stored));
    return numbers;
}

// The stored channels that are electrodes, and their band on a probe with two bands.
struct electrodes {
    std::size_t count = 0;
    std::uint64_t first_acquired = 0;  // number of the band's first channel
    bool is_lf = false;
    std::string prefix{};
};

electrodes find_electrodes(const meta_file& meta) {
    if (meta.has("snsApLfSy")) {
        const auto saved = meta.numbers("snsApLfSy", 3);
        const auto acquired = meta.numbers("acqApLfSy", 3);
        if (saved[0] > 0) return {saved[0], 0, false, "AP"};
        return {saved[1], acquired[0], true, "LF"};
    }
    // Among the inputs of NI and OneBox devices, only MN are electrodes, on amplifiers of Whisper.
    if (meta.has("snsMnMaXaDw")) return {meta.numbers("snsMnMaXaDw", 4)[0], 0, false, "NI"};
    static_cast<void>(meta.numbers("snsXaDwSy", 3));
    return {};
}

// Electrodes may be wired to inputs that are there for other signals.
[[noreturn]] void refuse_other_inputs(const meta_file& meta, std::size_t stored, double rate_hz) {
    const bool is_ni = meta.has("snsMnMaXaDw");
    const char* const key = is_ni                   ? "snsMnMaXaDw"
                            : meta.has("snsXaDwSy") ? "snsXaDwSy"
                                                    : "snsApLfSy";
    const double steps = is_ni ? 32768 : meta.has("obMaxInt") ? meta.number("obMaxInt") : 0;
    const char* const range = is_ni ? "niAiRangeMax" : "obAiRangeMax";
    const std::string gain =
        steps > 0 && meta.has(range)
            ? fmt::format(" and `gain` {:.6g}", 1e6 * meta.number(range) / steps)
            : std::string();
    meta.fail(key,
              fmt::format("found {}: none of the {} channels is of electrodes. If electrodes are "
                          "wired to analog inputs, read the file as raw samples: give "
                          "`channels` {}, `sample_rate` {}{}, and a `probe` file with the "
                          "channels that are electrodes",
                          io::shown(meta.text(key)), stored, stored, rate_hz, gain));
}

// Microvolts per count of electrodes on an NI device.
double electrode_gain(const meta_file& meta) {
    constexpr double steps = 32768;
    return 1e6 * meta.number("niAiRangeMax") / steps / meta.number("niMNGain");
}

// The folder of a run holds one recording unless the stream is specified: the path of a .meta file
// below the folder, without its ending, or its name if that is enough.
fs::path find_meta(const opening& job) {
    if (!fs::is_directory(job.path)) return fs::path(job.path).replace_extension(".meta");
    const std::vector<fs::path> found = files_below(job.path, ".meta");
    std::vector<std::string> names;
    std::vector<std::string> paths;
    for (const fs::path& path : found) {
        names.push_back(path.stem().string());
        paths.push_back(fs::relative(path, job.path).replace_extension().string());
    }
    if (std::count(names.begin(), names.end(), job.how.stream) == 1)
        return found[choose_stream(job.path, names, job.how.stream, ".meta file")];
    return found[choose_stream(job.path, paths, job.how.stream, ".meta file")];
}

// Returns a warning if the file has not all of the samples that were recorded, as after a crash,
// which also leaves the .meta without a size; empty if it has.
std::string what_is_missing(const meta_file& meta, const fs::path& samples, std::size_t stored) {
    constexpr auto key = "fileSizeBytes";
    std::error_code failed;
    const std::uint64_t found = fs::file_size(samples, failed);
    if (failed) return "";  // reported when it is opened
    const std::uint64_t bytes = meta.has(key) ? meta.whole_number(key) : 0;
    if (bytes == found) return "";
    const std::uint64_t frames = found / (stored * sizeof(std::int16_t));
    const std::string name = meta.path().filename().string();
    if (bytes == 0)
        return fmt::format(
            "'{}' does not state the length of the file (fileSizeBytes), as after a crash: its {} "
            "whole frames are read.",
            name, frames);
    if (bytes < found)
        throw io::file_error(samples, fmt::format("found {} bytes, expected {}, which is "
                                                  "fileSizeBytes of '{}': is that the .meta of "
                                                  "another file?",
                                                  found, bytes, name));
    return fmt::format(
        "The file is cut: it has {} bytes of {}, which is fileSizeBytes of '{}'. Its {} whole "
        "frames are read.",
        found, bytes, name, frames);
}

// Programs that work with SpikeGLX count times from the first sample of the file, because the
// clocks of its streams differ; only this warning states it.
void warn_of_clock(const meta_file& meta, recording_description& what) {
    constexpr auto key = "firstSample";
    if (!meta.has(key)) return;
    const std::uint64_t first = meta.whole_number(key);
    if (first == 0) return;
    what.warnings.push_back(fmt::format(
        "Times count from the first sample of the file, as those of CatGT and TPrime do. Since the "
        "acquisition began they are {:.6f} s more: by '{}', the first sample is number {} "
        "(firstSample).",
        static_cast<double>(first) / what.rate_hz, meta.path().filename().string(), first));
}

void describe_probe(const meta_file& meta, bool has_places, bool is_lf,
                    const std::vector<std::uint64_t>& numbers, recording_description& what) {
    const spikeglx_probe probe(meta);
    for (std::size_t c = 0; c < numbers.size(); ++c)
        what.channels[c].gain_uv = probe.gain_uv(numbers[c], is_lf);
    for (std::string& warning : probe.warnings()) what.warnings.push_back(std::move(warning));
    if (has_places) return;
    probe.place(numbers, what.channels);
    what.positions = position_source::file;
}

}  // namespace

opened read_spikeglx(const opening& job) {
    const fs::path path = find_meta(job);
    const meta_file meta(path);
    const std::uint64_t stored = meta.whole_number("nSavedChans");
    check_channels(path, "key 'nSavedChans'", stored);
    const electrodes which = find_electrodes(meta);
    if (which.count > stored)
        meta.fail("nSavedChans", fmt::format("found {} channels with {} electrodes among them",
                                             stored, which.count));
    opened out;
    recording_description& what = out.description;
    const char* const rate = meta.has("imSampRate")   ? "imSampRate"
                             : meta.has("niSampRate") ? "niSampRate"
                                                      : "obSampRate";
    what.rate_hz = checked_rate(path, fmt::format("key '{}'", rate), meta.number(rate));
    if (which.count == 0) refuse_other_inputs(meta, stored, what.rate_hz);
    what.channels.resize(which.count);
    std::vector<std::uint64_t> numbers = saved_channels(meta, stored);
    numbers.resize(which.count);
    for (std::size_t c = 0; c < which.count; ++c) {
        if (numbers[c] < which.first_acquired)
            meta.fail("snsSaveChanSubset",
                      fmt::format("found channel {}, expected one of the band from {} on",
                                  numbers[c], which.first_acquired));
        numbers[c] -= which.first_acquired;
        what.channels[c].name = fmt::format("{}{}", which.prefix, numbers[c]);
    }
    if (meta.has("snsApLfSy")) {
        describe_probe(meta, !job.how.probe.empty(), which.is_lf, numbers, what);
    } else {
        for (recording_channel& channel : what.channels) channel.gain_uv = electrode_gain(meta);
    }
    warn_of_clock(meta, what);
    if (which.count < stored)
        what.warnings.push_back(
            fmt::format("{} of {} channels are not electrodes and are left out.",
                        stored - which.count, stored));

    const fs::path samples = fs::path(path).replace_extension(".bin");
    std::string missing = what_is_missing(meta, samples, stored);
    out.source = keep_channels(
        open_flat_file({.path = samples, .stored = stored, .may_be_cut = !missing.empty()}), stored,
        all_below(which.count));
    if (!missing.empty()) what.warnings.push_back(std::move(missing));
    what.files = {samples, path};
    return out;
}

}  // namespace spikeweave::record
