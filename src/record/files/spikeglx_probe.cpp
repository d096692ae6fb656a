#include "record/files/spikeglx_probe.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "core/text.hpp"
#include "io/file_error.hpp"
#include "io/random_file.hpp"

namespace spikeweave::record {

std::optional<std::uint64_t> whole_number_in(std::string_view text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end) return std::nullopt;
    return value;
}

std::optional<double> number_in(std::string_view text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = fast_float::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end) return std::nullopt;
    return value;
}

meta_file::meta_file(std::filesystem::path path) : path_(std::move(path)) {
    constexpr std::uint64_t most = std::uint64_t{1} << 24;
    const io::random_file file(path_);
    if (file.size() > most)
        throw io::file_error(path_,
                             fmt::format("has {} bytes, expected at most {}", file.size(), most));
    std::string text(file.size(), '\0');
    file.read_at(0, text);
    for (std::string_view line : core::split(text, "\n")) {
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
        const std::size_t at = line.find('=');
        if (at == std::string_view::npos) continue;
        std::string_view key = line.substr(0, at);
        if (key.starts_with('~')) key.remove_prefix(1);
        values_.insert_or_assign(std::string(key), std::string(line.substr(at + 1)));
    }
}

bool meta_file::has(const std::string& key) const {
    const auto found = values_.find(key);
    return found != values_.end() && !found->second.empty();
}

const std::string& meta_file::text(const std::string& key) const {
    if (!has(key)) fail(key, "is missing");
    return values_.at(key);
}

double meta_file::number(const std::string& key) const {
    const auto value = number_in(text(key));
    if (!value || *value < 0)
        fail(key, fmt::format("found {}, expected a number", io::shown(text(key))));
    return *value;
}

std::uint64_t meta_file::whole_number(const std::string& key) const {
    const auto value = whole_number_in(text(key));
    if (!value) fail(key, fmt::format("found {}, expected a number", io::shown(text(key))));
    return *value;
}

std::vector<std::uint64_t> meta_file::numbers(const std::string& key, std::size_t count) const {
    const std::string& value = text(key);
    std::vector<std::uint64_t> out;
    // Counted first: a value of 16 MiB has as many parts as it has commas.
    if (static_cast<std::size_t>(std::count(value.begin(), value.end(), ',')) + 1 == count)
        for (const std::string_view part : core::split(value, ","))
            if (const auto number = whole_number_in(part)) out.push_back(*number);
    if (out.size() != count)
        fail(key, fmt::format("found {}, expected {} numbers", io::shown(value), count));
    return out;
}

std::vector<std::string_view> meta_file::list(const std::string& key) const {
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

void meta_file::fail(const std::string& key, const std::string& why) const {
    throw io::file_error(path_, fmt::format("key '{}'", key), why);
}

namespace {

constexpr auto table_key = "imroTbl";
constexpr auto geometry_key = "snsGeomMap";
constexpr auto columns_key = "snsShankMap";

// Returns the first number or name in "(…,…)".
std::string head_of(const meta_file& meta, const char* key) {
    if (!meta.has(key)) return "";
    const auto parts = meta.list(key);
    return parts.empty() ? "" : std::string(core::split(parts[0], ",")[0]);
}

const neuropixels_model* find_by_part_or_type(const std::string& name) {
    const neuropixels_model* const found = find_neuropixels(name);
    return found != nullptr ? found : find_neuropixels_of_type(name);
}

// The fields of an entry; the filter is missing in the first prototypes.
const char* fields_of(imro_layout layout) {
    switch (layout) {
        case imro_layout::banks:
            return "channel, bank, reference, AP gain, LF gain";
        case imro_layout::groups:
            return "group and two banks";
        case imro_layout::electrodes:
            return "channel, bank, reference, electrode";
        case imro_layout::shanks:
            return "channel, shank, bank, reference, electrode";
    }
    return "";
}

std::size_t field_count(imro_layout layout) {
    constexpr std::size_t counts[] = {5, 3, 4, 5};
    return counts[static_cast<std::size_t>(layout)];
}

// Returns the fields of an entry that are needed, or fewer if they are not all numbers.
std::vector<std::uint64_t> numbers_in(std::string_view entry, std::size_t count) {
    std::vector<std::uint64_t> out;
    for (const std::string_view field : core::split(entry, " ")) {
        const auto number = whole_number_in(field);
        if (out.size() == count || !number || *number > UINT32_MAX) break;
        out.push_back(*number);
    }
    return out;
}

// Returns the number of a shank, a column or a row.
std::optional<std::uint32_t> small_number(std::string_view text) {
    constexpr std::uint64_t most = 100'000;
    const auto number = whole_number_in(text);
    if (!number || *number > most) return std::nullopt;
    return static_cast<std::uint32_t>(*number);
}

}  // namespace

spikeglx_probe::spikeglx_probe(const meta_file& meta) : meta_(meta) {
    identify();
    if (meta_.has(table_key)) read_table();
}

// A part number that is not known is not replaced by the type, which many parts share.
void spikeglx_probe::identify() {
    if (meta_.has("imDatPrb_pn")) {
        named_by_ = "imDatPrb_pn";
        named_ = meta_.text(named_by_);
        model_ = find_neuropixels(named_);
        return;
    }
    if (meta_.has("imProbeOpt")) {  // the prototypes of phase 3A
        model_ = find_neuropixels("NP1010");
        return;
    }
    for (const char* key : {geometry_key, "imDatPrb_type", table_key}) {
        const std::string name = key == std::string_view("imDatPrb_type") && meta_.has(key)
                                     ? meta_.text(key)
                                     : head_of(meta_, key);
        if (name.empty()) continue;
        if (named_.empty()) std::tie(named_by_, named_) = std::pair{key, name};
        model_ = find_by_part_or_type(name);
        if (model_ != nullptr) return;
    }
}

void spikeglx_probe::read_table() {
    const auto table = meta_.list(table_key);
    const auto head = core::split(table.empty() ? std::string_view{} : table[0], ",");
    constexpr std::size_t fields_of_phase_3a = 3;
    const neuropixels_model* const kind = head.size() == fields_of_phase_3a
                                              ? find_neuropixels("NP1010")
                                              : find_by_part_or_type(std::string(head[0]));
    if (kind == nullptr && model_ == nullptr) return;
    const imro_layout layout = (kind != nullptr ? kind : model_)->layout;
    if (layout == imro_layout::groups) return read_groups(table);
    for (std::size_t e = 1; e < table.size(); ++e)
        readouts_.push_back(read_entry(table[e], layout));
}

spikeglx_probe::readout spikeglx_probe::read_entry(std::string_view entry,
                                                   imro_layout layout) const {
    constexpr std::uint64_t channels_of_bank = 384;
    const auto numbers = numbers_in(entry, field_count(layout));
    if (numbers.size() < field_count(layout))
        meta_.fail(table_key,
                   fmt::format("found {}, expected {}", io::shown(entry), fields_of(layout)));
    const auto as_number = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    readout out;
    if (layout == imro_layout::banks) {
        const std::uint64_t contact = numbers[1] * channels_of_bank + numbers[0];
        out.contact = as_number(std::min<std::uint64_t>(contact, UINT32_MAX));
        out.ap_gain = static_cast<double>(numbers[3]);
        out.lf_gain = static_cast<double>(numbers[4]);
        if (numbers[3] == 0 || numbers[4] == 0)
            meta_.fail(table_key, fmt::format("found {}, expected gains above 0 in fields 4 and 5",
                                              io::shown(entry)));
    } else {
        out.contact = as_number(numbers.back());
        if (layout == imro_layout::shanks) out.shank = as_number(numbers[1]);
    }
    return out;
}

void spikeglx_probe::read_groups(const std::vector<std::string_view>& table) {
    constexpr std::uint32_t channels = 384;
    constexpr std::size_t groups = 24;
    constexpr std::size_t fields_of_head = 6;
    const auto head = core::split(table[0], ",");
    const auto number = [&](std::size_t field) {
        return head.size() == fields_of_head ? whole_number_in(head[field]) : std::nullopt;
    };
    const auto columns = number(1);
    const auto ap_gain = number(3);
    const auto lf_gain = number(4);
    if (!columns || *columns > 2 || !ap_gain || *ap_gain == 0 || !lf_gain || *lf_gain == 0)
        meta_.fail(table_key, fmt::format("found {}, expected type, columns (0, 1 or 2), "
                                          "reference, AP gain, LF gain and filter",
                                          io::shown(table[0])));
    if (table.size() != groups + 1)
        meta_.fail(table_key,
                   fmt::format("found {} groups, expected {}", table.size() - 1, groups));
    std::vector<group_banks> banks;
    for (std::size_t g = 0; g < groups; ++g) {
        const auto numbers = numbers_in(table[g + 1], field_count(imro_layout::groups));
        constexpr std::uint64_t last_bank = 15;
        if (numbers.size() < field_count(imro_layout::groups) || numbers[0] != g ||
            numbers[1] > last_bank || numbers[2] > last_bank)
            meta_.fail(table_key, fmt::format("found {}, expected group {} and two banks from 0 "
                                              "to {}",
                                              io::shown(table[g + 1]), g, last_bank));
        banks.push_back(
            {static_cast<std::uint32_t>(numbers[1]), static_cast<std::uint32_t>(numbers[2])});
    }
    for (std::uint32_t c = 0; c < channels; ++c)
        readouts_.push_back(
            {0,
             contact_of_group(c, banks[group_of_channel(c)], static_cast<group_columns>(*columns)),
             static_cast<double>(*ap_gain), static_cast<double>(*lf_gain)});
}

bool spikeglx_probe::lists_gains() const {
    return readouts_.empty() ? model_ != nullptr && model_->gain == 0 : readouts_[0].ap_gain > 0;
}

double spikeglx_probe::gain_uv(std::uint64_t channel, bool is_lf) const {
    constexpr auto of_first = "imChan0apGain";
    double steps = 0;
    if (meta_.has("imMaxInt"))
        steps = meta_.number("imMaxInt");
    else if (model_ != nullptr)
        steps = static_cast<double>(std::uint64_t{1} << (model_->adc_bits - 1));
    else
        meta_.fail("imMaxInt", "is missing, and the gain of a probe that is not known needs it");
    double gain = 0;
    if (lists_gains()) {
        if (channel >= readouts_.size())
            meta_.fail(table_key, readouts_.empty()
                                      ? "is missing, and the channels of this probe have gains of "
                                        "their own"
                                      : fmt::format("has {} channels, expected channel {}, too",
                                                    readouts_.size(), channel));
        const readout& one = readouts_[static_cast<std::size_t>(channel)];
        gain = is_lf ? one.lf_gain : one.ap_gain;
    } else if (meta_.has(of_first)) {
        // The LF band of a probe with one gain was made of its only band.
        gain = meta_.number(of_first);
    } else if (model_ != nullptr) {
        gain = model_->gain;
    } else {
        meta_.fail(of_first,
                   "is missing, and so is any other key that states the gain: with "
                   "`channels`, `sample_rate` and `gain` the file is read as raw "
                   "samples");
    }
    return 1e6 * meta_.number("imAiRangeMax") / steps / gain;
}

void spikeglx_probe::place(const std::vector<std::uint64_t>& numbers,
                           std::vector<recording_channel>& channels) const {
    if (model_ != nullptr && !readouts_.empty()) return place_by_table(numbers, channels);
    if (model_ != nullptr && place_by_map(columns_key, numbers, channels)) return;
    if (place_by_map(geometry_key, numbers, channels)) return;
    const std::string hint = "give the positions of its contacts as a probe file with `probe`";
    if (named_.empty())
        throw io::file_error(meta_.path(),
                             "states neither the part number of its probe (imDatPrb_pn) nor the "
                             "positions of its contacts (snsGeomMap): " +
                                 hint);
    meta_.fail(
        named_by_,
        model_ == nullptr
            ? fmt::format("found {}, which is not a known probe, expected the part number of a "
                          "Neuropixels probe, such as NP1000 or NP2014: {}",
                          io::shown(named_), hint)
            : fmt::format("found {}, without imroTbl, which lists the contacts that were read: {}",
                          io::shown(named_), hint));
}

void spikeglx_probe::place_by_table(const std::vector<std::uint64_t>& numbers,
                                    std::vector<recording_channel>& channels) const {
    const std::uint32_t contacts = model_->columns * model_->rows;
    for (std::size_t c = 0; c < channels.size(); ++c) {
        if (numbers[c] >= readouts_.size())
            meta_.fail(table_key, fmt::format("has {} channels, expected channel {}, too",
                                              readouts_.size(), numbers[c]));
        const readout& one = readouts_[static_cast<std::size_t>(numbers[c])];
        if (one.contact >= contacts || one.shank >= model_->shanks)
            meta_.fail(table_key,
                       fmt::format("channel {} is at contact {} of shank {}, but this probe has "
                                   "{} contacts on each shank, and {} shanks",
                                   numbers[c], one.contact, one.shank, contacts, model_->shanks));
        const contact_place at = place_of(*model_, one.shank, one.contact % model_->columns,
                                          one.contact / model_->columns);
        channels[c].x_um = at.x_um;
        channels[c].y_um = at.y_um;
        channels[c].shank = one.shank;
    }
}

// Reads "(…)(shank:column:row:used)…", or "(part,shanks,shank pitch,shank width)(shank:x:y:used)…"
// in micrometres, with x from the left edge of each shank. There is an entry for each saved
// channel, or for each of the probe.
bool spikeglx_probe::place_by_map(const char* key, const std::vector<std::uint64_t>& numbers,
                                  std::vector<recording_channel>& channels) const {
    if (!meta_.has(key)) return false;
    const bool is_geometry = key == std::string_view(geometry_key);
    const auto parts = meta_.list(key);
    const std::size_t entries = parts.empty() ? 0 : parts.size() - 1;
    const auto head = core::split(parts.empty() ? std::string_view{} : parts[0], ",");
    constexpr std::size_t fields_of_geometry = 4;
    const auto pitch =
        is_geometry && head.size() == fields_of_geometry ? number_in(head[2]) : std::nullopt;
    if (is_geometry && !pitch)
        meta_.fail(key, fmt::format("found {}, expected (part,shanks,pitch,width)",
                                    io::shown(meta_.text(key))));
    if (entries < channels.size())
        meta_.fail(key, fmt::format("found {} contacts, expected {}, one per saved channel",
                                    entries, channels.size()));
    const auto coordinate = [&](std::string_view field) -> std::optional<double> {
        if (is_geometry) return number_in(field);
        return small_number(field);
    };
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const std::uint64_t at = entries == channels.size() ? c : numbers[c];
        if (at >= entries)
            meta_.fail(key, fmt::format("found {} contacts, expected one for channel {}, too",
                                        entries, at));
        const std::string_view entry = parts[static_cast<std::size_t>(at) + 1];
        const auto fields = core::split(entry, ":");
        const auto shank = small_number(fields[0]);
        const bool complete = fields.size() == 4;
        const auto first = complete ? coordinate(fields[1]) : std::nullopt;
        const auto second = complete ? coordinate(fields[2]) : std::nullopt;
        if (!shank || !first || !second)
            meta_.fail(key, fmt::format("found {}, expected shank:{}:used", io::shown(entry),
                                        is_geometry ? "x:y" : "column:row"));
        const contact_place place =
            is_geometry ? contact_place{*first + *pitch * *shank, *second}
                        : place_of(*model_, *shank, static_cast<std::uint32_t>(*first),
                                   static_cast<std::uint32_t>(*second));
        channels[c].x_um = place.x_um;
        channels[c].y_um = place.y_um;
        channels[c].shank = *shank;
    }
    return true;
}

std::vector<std::string> spikeglx_probe::warnings() const {
    if (model_ != nullptr || lists_gains()) return {};
    return {fmt::format("The probe{} is not known: the gain of its first channel is used for all.",
                        named_.empty() ? "" : " " + io::shown(named_))};
}

}  // namespace spikeweave::record
