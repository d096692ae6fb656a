#include "live/sinks/json_results.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace spikeweave::live {
namespace {

std::uint64_t losses_of(const session_counts& counts) {
    return counts.missing - counts.belated + counts.unreadable + counts.order.late;
}

void append_units(std::string& text, const episode& what, const named_units& units) {
    text += "\"units\":[";
    for (std::size_t i = 0; i < what.units.size(); ++i) {
        if (i > 0) text += ',';
        text += units.json(what.units[i]);
    }
    text += ']';
}

std::string line_of_skipped(const mined_window& window) {
    const window_bounds& bounds = window.mined.bounds;
    return fmt::format(
        R"({{"type":"skipped","window":{},"epoch":{},"t_us":[{},{}],"spikes":{},"has_gap":{}}})"
        "\n",
        bounds.number, window.epoch, bounds.begin.count(), bounds.end.count(), window.mined.spikes,
        window.has_gap);
}

std::string line_of(const mined_window& window, const named_units& units) {
    if (window.is_skipped()) return line_of_skipped(window);
    const auto& [bounds, spikes, table] = window.mined;
    std::string text = fmt::format(
        R"({{"type":"window","window":{},"epoch":{},"t_us":[{},{}],"spikes":{},"threshold":{},)"
        R"("has_gap":{},"complete_to_size":{},"episodes":[)",
        bounds.number, window.epoch, bounds.begin.count(), bounds.end.count(), spikes,
        table.threshold, window.has_gap,
        table.complete_to_size ? std::to_string(*table.complete_to_size) : "null");
    bool is_first = true;
    for (const counted_episode* const one : units.ordered(table)) {
        const auto& [what, count] = *one;
        text += std::exchange(is_first, false) ? "{" : ",{";
        append_units(text, what, units);
        text += ",\"delays_us\":[";
        for (std::size_t i = 0; i < what.delays.size(); ++i)
            fmt::format_to(std::back_inserter(text), "{}[{},{}]", i > 0 ? "," : "",
                           what.delays[i].low.count(), what.delays[i].high.count());
        fmt::format_to(std::back_inserter(text), "],\"count\":{}}}", count);
    }
    text += "]}\n";
    return text;
}

}  // namespace

json_results::json_results(std::vector<armed_episode> armed, text_writer write)
    : armed_(std::move(armed)), write_(std::move(write)) {}

void json_results::units_added(std::span<const std::string> names) {
    units_.add(names);
}

void json_results::detected(const episode_detection& detection) {
    const auto units = units_.now();
    const auto times = detection.times_us;
    const std::lock_guard lock(writing_);
    fmt::format_to(std::back_inserter(text_), R"({{"type":"detection","episode":{},)",
                   detection.episode);
    append_units(text_, armed_[detection.episode].what, *units);
    fmt::format_to(std::back_inserter(text_), R"(,"t_us":[{},{}],"spikes_us":[{}]}})",
                   times.front(), times.back(), fmt::join(times, ","));
    text_ += '\n';
}

// Another thread may call it. What is to be written is made before others have to wait.
void json_results::mined(const mined_window& window) {
    const std::string line = line_of(window, *units_.now());
    const std::lock_guard lock(writing_);
    flush();
    write_(line);
}

void json_results::counted(const time_span& window, std::span<const std::uint64_t> counts) {
    const std::lock_guard lock(writing_);
    fmt::format_to(std::back_inserter(text_), R"({{"type":"counts","t_us":[{},{}],"counts":[{}]}})",
                   window.begin.count(), window.end.count(), fmt::join(counts, ","));
    text_ += '\n';
}

void json_results::epoch_ended() {
    const std::lock_guard lock(writing_);
    text_ += "{\"type\":\"epoch\"}\n";
}

// Tells of the first loss, and again whenever twice as much is lost.
void json_results::add_alarm(const session_counts& counts) {
    const std::uint64_t lost = losses_of(counts);
    if (lost == 0 || lost < 2 * alarmed_) return;
    alarmed_ = lost;
    fmt::format_to(std::back_inserter(text_),
                   R"({{"type":"alarm","missing":{},"unreadable":{},"late":{}}})",
                   counts.missing - counts.belated, counts.unreadable, counts.order.late);
    text_ += '\n';
}

void json_results::block_ended(const session_counts& counts) {
    const std::lock_guard lock(writing_);
    add_alarm(counts);
    flush();
}

void json_results::session_ended(const session_counts& counts) {
    const std::size_t units = units_.now()->size();
    const std::lock_guard lock(writing_);
    add_alarm(counts);
    fmt::format_to(
        std::back_inserter(text_),
        R"({{"type":"stats","units":{},"spikes":{},"late":{},"duplicates":{},"missing":{},)"
        R"("belated":{},"repeated":{},"unreadable":{},"epochs":{},"detections":{},"windows":{},)"
        R"("incomplete":{},"skipped":{}}})",
        units, counts.order.accepted, counts.order.late, counts.order.duplicates, counts.missing,
        counts.belated, counts.repeated, counts.unreadable, counts.epochs, counts.detections,
        counts.windows, counts.incomplete, counts.skipped);
    text_ += '\n';
    flush();
}

void json_results::flush() {
    if (text_.empty()) return;
    write_(text_);
    text_.clear();
}

}  // namespace spikeweave::live
