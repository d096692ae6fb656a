#include "live/log/entries.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cstring>
#include <iterator>
#include <span>

#include "io/digest.hpp"
#include "io/little_endian.hpp"
#include "io/session_schema.hpp"
#include "live/log/header.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

constexpr std::size_t entry_head = sizeof(std::uint64_t) + sizeof(entry_kind);

}  // namespace

std::string digest_of(const recorded_window& window) {
    return io::digest_of_bytes(fmt::format(
        "{} {} {} {} {} {} {} {} {}", window.epoch, window.bounds.number,
        window.bounds.begin.count(), window.bounds.end.count(), window.spikes, window.threshold,
        window.has_gap ? 1 : 0, window.complete_to ? std::to_string(*window.complete_to) : "null",
        window.episodes));
}

recorded_window record_of(const mined_window& window,
                          const std::vector<std::string>& names_as_json) {
    const auto& [bounds, spikes, table] = window.mined;
    recorded_window record{.input = window.input,
                           .epoch = static_cast<std::int64_t>(window.epoch),
                           .bounds = bounds,
                           .spikes = spikes,
                           .threshold = table.threshold,
                           .has_gap = window.has_gap,
                           .complete_to = table.complete_to_size,
                           .was_tested = window.was_tested};
    record.episodes += '[';
    for (const auto& [what, count] : table.episodes) {
        if (record.episodes.size() > 1) record.episodes += ',';
        fmt::format_to(std::back_inserter(record.episodes), "[{},{}]", count,
                       json_of(what, names_as_json));
    }
    record.episodes += ']';
    record.digest = digest_of(record);
    return record;
}

std::string json_of(const session_counts& counts) {
    std::string text = fmt::format(
        R"({{"accepted":{},"late":{},"duplicates":{},"missing":{},"belated":{},"repeated":{},)"
        R"("unreadable":{},"epochs":{},"detections":{},"hold_off":{},"rate":{},"mute":{},)"
        R"("unchecked":{},"windows":{},"incomplete":{},"skipped":{})",
        counts.order.accepted, counts.order.late, counts.order.duplicates, counts.missing,
        counts.belated, counts.repeated, counts.unreadable, counts.epochs, counts.detections,
        counts.suppressed.hold_off, counts.suppressed.rate, counts.suppressed.mute,
        counts.suppressed.unchecked, counts.windows, counts.incomplete, counts.skipped);
    if (counts.arming)
        fmt::format_to(std::back_inserter(text),
                       R"(,"armed":{},"disarmed":{},"refused":{},"late_arming":{},"untested":{})",
                       counts.arming->armed, counts.arming->disarmed, counts.arming->refused,
                       counts.arming->late, counts.untested);
    return text + '}';
}

void entry_encoder::begin(entry_kind kind) {
    bytes_.clear();
    io::append(bytes_, std::uint64_t{0});
    io::append(bytes_, static_cast<std::uint8_t>(kind));
}

void entry_encoder::add(std::int64_t number) {
    io::append(bytes_, number);
}

void entry_encoder::add(std::string_view text) {
    add(std::uint64_t{text.size()});
    bytes_.append(text);
}

// In the form in which they stand in the file.
void entry_encoder::add(std::span<const spike_event> spikes) {
    const std::size_t size = spikes.size() * io::session_spike_bytes;
    add(std::uint64_t{size});
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + size);
    char* at = bytes_.data() + begin;
    for (const spike_event& spike : spikes) {
        std::memcpy(at, &spike.time_us, sizeof spike.time_us);
        std::memcpy(at + sizeof spike.time_us, &spike.unit, sizeof spike.unit);
        at += io::session_spike_bytes;
    }
}

std::span<const char> entry_encoder::finish() {
    const std::uint64_t size = bytes_.size();
    std::memcpy(bytes_.data(), &size, sizeof size);
    return bytes_;
}

std::int64_t entry_decoder::number() {
    const auto value = io::load<std::int64_t>(rest_.data());
    rest_.remove_prefix(sizeof value);
    return value;
}

std::string_view entry_decoder::text() {
    const std::uint64_t size = count();
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
}

entry_parts parts_of(entry_kind kind, std::string_view entry) {
    entry_parts parts;
    entry_decoder fields(entry);
    if (kind == entry_kind::window)
        parts.window.reset(std::bit_cast<const mined_window*>(fields.count()));
    if (kind == entry_kind::arming)
        parts.arming.reset(std::bit_cast<const placed_change*>(fields.count()));
    if (kind == entry_kind::templates)
        parts.templates.reset(std::bit_cast<const std::string*>(fields.count()));
    return parts;
}

bool split_entry(std::string_view& bytes, entry_kind& kind, std::string_view& entry) {
    if (bytes.size() < entry_head) return false;
    const auto size = io::load<std::uint64_t>(bytes.data());
    if (bytes.size() < size) return false;
    kind = static_cast<entry_kind>(bytes[sizeof size]);
    entry = bytes.substr(entry_head, size - entry_head);
    bytes.remove_prefix(size);
    return true;
}

recorded_arming record_of(const arming_change& change, std::int64_t input,
                          const std::vector<std::string>& names_as_json) {
    recorded_arming row{.input = input,
                        .epoch = static_cast<std::int64_t>(change.from.epoch),
                        .from_us = change.from.time_us,
                        .window_epoch = static_cast<std::int64_t>(change.due.epoch),
                        .window = change.window,
                        .due_us = change.due.time_us,
                        .is_late = change.is_late,
                        .armed = "[",
                        .disarmed = fmt::format("[{}]", fmt::join(change.disarmed, ",")),
                        .refused = "["};
    for (const auto& [number, what, per_minute] : change.armed)
        fmt::format_to(std::back_inserter(row.armed), "{}[{},{},{}]",
                       row.armed.size() > 1 ? "," : "", number, per_minute,
                       json_of(what, names_as_json));
    for (const auto& [what, per_minute, by_chance] : change.refused)
        fmt::format_to(std::back_inserter(row.refused), "{}[{},{},{}]",
                       row.refused.size() > 1 ? "," : "", by_chance, per_minute,
                       json_of(what, names_as_json));
    row.armed += ']';
    row.refused += ']';
    return row;
}

arming_change change_of(const recorded_arming& row, std::uint64_t number,
                        const std::vector<std::string>& unit_names) {
    arming_change change{.number = number,
                         .window = row.window,
                         .due = {static_cast<std::uint64_t>(row.window_epoch), row.due_us},
                         .from = row.from(),
                         .is_late = row.is_late};
    try {
        using nlohmann::json;
        for (const json& one : json::parse(row.armed))
            change.armed.push_back({one.at(0).get<std::size_t>(),
                                    episode_of(one.at(2).dump(), unit_names),
                                    one.at(1).get<double>()});
        for (const json& one : json::parse(row.disarmed))
            change.disarmed.push_back(one.get<std::size_t>());
        for (const json& one : json::parse(row.refused))
            change.refused.push_back({episode_of(one.at(2).dump(), unit_names),
                                      one.at(1).get<double>(), one.at(0).get<bool>()});
    } catch (const nlohmann::json::exception&) {
        throw invalid_argument("found damaged JSON");
    }
    return change;
}

}  // namespace spikeweave::live
