#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "io/file_error.hpp"
#include "io/random_file.hpp"
#include "record/files/readers.hpp"

namespace spikeweave::record {
namespace {

namespace fs = std::filesystem;

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const char* const end = text.data() + text.size();
    if constexpr (std::is_floating_point_v<Number>) {
        const auto [stopped, error] = fast_float::from_chars(text.data(), end, value);
        if (error != std::errc{} || stopped != end) return std::nullopt;
    } else {
        const auto [stopped, error] = std::from_chars(text.data(), end, value);
        if (error != std::errc{} || stopped != end) return std::nullopt;
    }
    return value;
}

// The lines `key=value` of a .meta file. Keys of lists begin with '~', which is removed.
class meta_file {
public:
    explicit meta_file(fs::path path) : path_(std::move(path)) {
        constexpr std::uint64_t most = std::uint64_t{1} << 24;
        const io::random_file file(path_);
        if (file.size() > most)
            throw io::file_error(
                path_, fmt::format("has {} bytes, expected at most {}", file.size(), most));
        std::string text(file.size(), '\0');
        file.read_at(0, text);
        for (std::string_view line : split(text, '\n')) {
            while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
                line.remove_suffix(1);
            const std::size_t at = line.find('=');
            if (at == std::string_view::npos) continue;
            std::string_view key = line.substr(0, at);
            if (key.starts_with('~')) key.remove_prefix(1);
            values_.insert_or_assign(std::string(key), std::string(line.substr(at + 1)));
        }
    }

    const fs::path& path() const { return path_; }
    bool has(const std::string& key) const { return values_.count(key) != 0; }
    const std::string& text(const std::string& key) const {
        const auto found = values_.find(key);
        if (found == values_.end()) fail(key, "is missing");
        return found->second;
    }
    template <class Number>
    Number number(const std::string& key) const {
        const auto value = number_in<Number>(text(key));
        if (!value || *value < Number{})
            fail(key, fmt::format("found {}, expected a number", io::shown(text(key))));
        return *value;
    }
    std::vector<std::uint64_t> numbers(const std::string& key, std::size_t count) const {
        std::vector<std::uint64_t> out;
        out.reserve(count);
        for (const std::string_view part : split(text(key), ','))
            out.push_back(number_in<std::uint64_t>(part).value_or(UINT64_MAX));
        if (out.size() != count || std::count(out.begin(), out.end(), UINT64_MAX) != 0)
            fail(key, fmt::format("found {}, expected {} numbers", io::shown(text(key)), count));
        return out;
    }
    // Returns the parts in brackets of "(head)(entry)(entry)".
    std::vector<std::string_view> list(const std::string& key) const {
        std::string_view rest = text(key);
        std::vector<std::string_view> parts;
        while (!rest.empty()) {
            const std::size_t end = rest.find(')');
            if (rest.front() != '(' || end == std::string_view::npos)
                fail(key, fmt::format("found {}, expected (…)", io::shown(rest)));
            parts.push_back(rest.substr(1, end - 1));
            rest.remove_prefix(end + 1);
        }
        return parts;
    }
    [[noreturn]] void fail(const std::string& key, const std::string& why) const {
        throw io::file_error(path_, fmt::format("key '{}'", key), why);
    }

private:
    fs::path path_;
    std::map<std::string, std::string> values_;
};

// Returns the numbers of the acquired channels that were saved: "all", or "0:383,768".
std::vector<std::uint64_t> saved_channels(const meta_file& meta, std::size_t stored) {
    constexpr auto key = "snsSaveChanSubset";
    std::vector<std::uint64_t> numbers;
    const std::string text = meta.has(key) ? meta.text(key) : "all";
    if (text == "all") {
        for (std::uint64_t c = 0; c < stored; ++c) numbers.push_back(c);
        return numbers;
    }
    for (const std::string_view part : split(text, ',')) {
        const std::size_t colon = part.find(':');
        const auto first = number_in<std::uint64_t>(part.substr(0, colon));
        const auto last = colon == std::string_view::npos
                              ? first
                              : number_in<std::uint64_t>(part.substr(colon + 1));
        if (!first || !last || *last < *first || *last - *first >= stored)
            meta.fail(key,
                      fmt::format("found {}, expected channels as 0:383,768", io::shown(part)));
        for (std::uint64_t c = *first; c <= *last; ++c) numbers.push_back(c);
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
    if (meta.has("snsMnMaXaDw")) {
        const auto saved = meta.numbers("snsMnMaXaDw", 4);
        return {saved[0] + saved[1] + saved[2], 0, false, "NI"};
    }
    const auto saved = meta.numbers("snsXaDwSy", 3);
    return {saved[0], 0, false, "XA"};
}

// Returns the microvolts per count of a probe. Probes of the first kind list the gains of each
// channel, the others have one gain.
double probe_gain(const meta_file& meta, const std::vector<std::string_view>& table,
                  std::uint64_t channel, bool is_lf) {
    const auto volts = meta.number<double>("imAiRangeMax");
    const auto fields = channel + 1 < table.size() ? split(table[channel + 1], ' ')
                                                   : std::vector<std::string_view>{};
    // There are six fields in Neuropixels 1.0, and five in earlier prototypes and in 2.0, which has
    // one gain.
    const bool lists_gains =
        fields.size() > 5 || (fields.size() == 5 && !meta.has("imChan0apGain"));
    if (lists_gains) {
        const auto gain = number_in<double>(fields[is_lf ? 4 : 3]);
        if (!gain || *gain <= 0)
            meta.fail("imroTbl", fmt::format("found {}, expected a gain in field {}",
                                             io::shown(table[channel + 1]), is_lf ? 5 : 4));
        const double steps = meta.has("imMaxInt") ? meta.number<double>("imMaxInt") : 512;
        return 1e6 * volts / steps / *gain;
    }
    const double steps = meta.has("imMaxInt") ? meta.number<double>("imMaxInt") : 8192;
    return 1e6 * volts / steps / meta.number<double>(is_lf ? "imChan0lfGain" : "imChan0apGain");
}

double analog_gain(const meta_file& meta, std::size_t channel) {
    if (!meta.has("snsMnMaXaDw"))
        return 1e6 * meta.number<double>("obAiRangeMax") / meta.number<double>("obMaxInt");
    const auto saved = meta.numbers("snsMnMaXaDw", 4);
    const double volts = 1e6 * meta.number<double>("niAiRangeMax") / 32768;
    if (channel < saved[0]) return volts / meta.number<double>("niMNGain");
    if (channel < saved[0] + saved[1]) return volts / meta.number<double>("niMAGain");
    return volts;
}

// Reads "(part,shanks,shank pitch,shank width)(shank:x:y:used)…" of the saved channels, in
// micrometres.
bool place_by_geometry(const meta_file& meta, std::vector<recording_channel>& channels) {
    constexpr auto key = "snsGeomMap";
    if (!meta.has(key)) return false;
    const auto parts = meta.list(key);
    const auto head = split(parts.empty() ? std::string_view{} : parts[0], ',');
    const auto pitch = head.size() == 4 ? number_in<double>(head[2]) : std::nullopt;
    if (!pitch || parts.size() < channels.size() + 1)
        meta.fail(key, fmt::format("found {} contacts, expected {}, one a saved channel",
                                   parts.empty() ? 0 : parts.size() - 1, channels.size()));
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const auto fields = split(parts[c + 1], ':');
        const auto shank = number_in<std::uint32_t>(fields[0]);
        const auto x = fields.size() == 4 ? number_in<double>(fields[1]) : std::nullopt;
        const auto y = fields.size() == 4 ? number_in<double>(fields[2]) : std::nullopt;
        if (!shank || !x || !y)
            meta.fail(key,
                      fmt::format("found {}, expected shank:x:y:used", io::shown(parts[c + 1])));
        channels[c].x_um = *x + *pitch * *shank;
        channels[c].y_um = *y;
        channels[c].shank = *shank;
    }
    return true;
}

// Older files give only column and row: "(shanks,columns,rows)(shank:column:row:used)…". Distances
// are those of Neuropixels 1.0 (staggered) and 2.0, from SpikeGLX's metadata guide.
bool place_by_columns(const meta_file& meta, std::vector<recording_channel>& channels) {
    constexpr auto key = "snsShankMap";
    if (!meta.has(key)) return false;
    const auto parts = meta.list(key);
    if (parts.size() < channels.size() + 1)
        meta.fail(key, fmt::format("found {} contacts, expected {}, one a saved channel",
                                   parts.empty() ? 0 : parts.size() - 1, channels.size()));
    const std::string type = meta.has("imDatPrb_type") ? meta.text("imDatPrb_type") : "0";
    const bool first_kind = type == "0" || type == "1020" || type == "1030";
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const auto fields = split(parts[c + 1], ':');
        const auto shank = number_in<std::uint32_t>(fields[0]);
        const auto column = fields.size() == 4 ? number_in<std::uint32_t>(fields[1]) : std::nullopt;
        const auto row = fields.size() == 4 ? number_in<std::uint32_t>(fields[2]) : std::nullopt;
        if (!shank || !column || !row)
            meta.fail(key, fmt::format("found {}, expected shank:column:row:used",
                                       io::shown(parts[c + 1])));
        const double stagger = first_kind && *row % 2 == 0 ? 16 : 0;
        channels[c].x_um = 32.0 * *column + stagger + 250.0 * *shank;
        channels[c].y_um = (first_kind ? 20.0 : 15.0) * *row;
        channels[c].shank = *shank;
    }
    return true;
}

// The folder of a run holds one recording unless the stream is specified.
fs::path find_meta(const opening& job) {
    if (!fs::is_directory(job.path)) return fs::path(job.path).replace_extension(".meta");
    const std::vector<fs::path> found = files_below(job.path, ".meta");
    std::vector<std::string> names;
    names.reserve(found.size());
    for (const fs::path& path : found) names.push_back(path.stem().string());
    return found[choose_stream(job.path, names, job.how.stream, ".meta file")];
}

}  // namespace

opened read_spikeglx(const opening& job) {
    const fs::path path = find_meta(job);
    const meta_file meta(path);
    const auto stored = meta.number<std::size_t>("nSavedChans");
    check_channels(path, "key 'nSavedChans'", stored);
    const electrodes which = find_electrodes(meta);
    if (which.count == 0 || which.count > stored)
        meta.fail("nSavedChans", fmt::format("found {} channels with {} electrodes among them, "
                                             "expected at least 1 electrode",
                                             stored, which.count));
    opened out;
    recording_description& what = out.description;
    const char* const rate = meta.has("imSampRate")   ? "imSampRate"
                             : meta.has("niSampRate") ? "niSampRate"
                                                      : "obSampRate";
    what.rate_hz = checked_rate(path, fmt::format("key '{}'", rate), meta.number<double>(rate));
    what.channels.resize(which.count);
    const auto acquired = saved_channels(meta, stored);
    const bool on_probe = meta.has("snsApLfSy");
    const auto table =
        on_probe && meta.has("imroTbl") ? meta.list("imroTbl") : std::vector<std::string_view>{};
    for (std::size_t c = 0; c < which.count; ++c) {
        if (acquired[c] < which.first_acquired)
            meta.fail("snsSaveChanSubset",
                      fmt::format("found channel {}, expected one of the band from {} on",
                                  acquired[c], which.first_acquired));
        const std::uint64_t number = acquired[c] - which.first_acquired;
        what.channels[c].name = fmt::format("{}{}", which.prefix, number);
        what.channels[c].gain_uv =
            on_probe ? probe_gain(meta, table, number, which.is_lf) : analog_gain(meta, c);
    }
    if (place_by_geometry(meta, what.channels) || place_by_columns(meta, what.channels))
        what.positions = position_source::file;
    if (which.count < stored)
        what.warnings.push_back(fmt::format("{} of {} channels are no electrodes and are left out.",
                                            stored - which.count, stored));

    const fs::path samples = fs::path(path).replace_extension(".bin");
    out.source = open_flat_file({samples, 0, stored, all_below(which.count)});
    what.files = {samples, path};
    const auto bytes = meta.number<std::uint64_t>("fileSizeBytes");
    const std::uint64_t found = out.source->frame_count() * stored * sizeof(std::int16_t);
    if (found != bytes)
        throw io::file_error(samples, fmt::format("found {} bytes, expected {}, which is "
                                                  "fileSizeBytes of '{}': the file is cut or not "
                                                  "that one's",
                                                  found, bytes, path.filename().string()));
    return out;
}

}  // namespace spikeweave::record
