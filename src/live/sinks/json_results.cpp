#include "live/sinks/json_results.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace spikeweave::live {
namespace {

std::string json_text(const std::string& text) {
    constexpr auto replace = nlohmann::json::error_handler_t::replace;
    return nlohmann::json(text).dump(-1, ' ', false, replace);
}

std::uint64_t losses_of(const session_counts& counts) {
    return counts.missing - counts.belated + counts.unreadable + counts.order.late;
}

}  // namespace

json_results::json_results(std::vector<armed_episode> armed, text_writer write)
    : armed_(std::move(armed)), write_(std::move(write)) {}

void json_results::units_added(std::span<const std::string> names) {
    units_.add(names);
    for (const std::string& name : names) names_.push_back(json_text(name));
}

void json_results::add_units_of(const episode& what) {
    text_ += "\"units\":[";
    for (std::size_t i = 0; i < what.units.size(); ++i) {
        if (i > 0) text_ += ',';
        text_ += names_[to_index(what.units[i])];
    }
    text_ += ']';
}

void json_results::detected(const episode_detection& detection) {
    const auto times = detection.times_us;
    fmt::format_to(std::back_inserter(text_), R"({{"type":"detection","episode":{},)",
                   detection.episode);
    add_units_of(armed_[detection.episode].what);
    fmt::format_to(std::back_inserter(text_), R"(,"t_us":[{},{}],"spikes_us":[{}]}})",
                   times.front(), times.back(), fmt::join(times, ","));
    text_ += '\n';
}

void json_results::mined(const mined_window& window) {
    const auto& [bounds, spikes, table] = window.mined;
    fmt::format_to(std::back_inserter(text_),
                   R"({{"type":"window","window":{},"t_us":[{},{}],"spikes":{},"threshold":{},)"
                   R"("has_gap":{},"episodes":[)",
                   bounds.number, bounds.begin.count(), bounds.end.count(), spikes, table.threshold,
                   window.has_gap);
    bool is_first = true;
    for (const counted_episode* const one : units_.ordered(table)) {
        const auto& [what, count] = *one;
        text_ += std::exchange(is_first, false) ? "{" : ",{";
        add_units_of(what);
        text_ += ",\"delays_us\":[";
        for (std::size_t i = 0; i < what.delays.size(); ++i)
            fmt::format_to(std::back_inserter(text_), "{}[{},{}]", i > 0 ? "," : "",
                           what.delays[i].low.count(), what.delays[i].high.count());
        fmt::format_to(std::back_inserter(text_), "],\"count\":{}}}", count);
    }
    text_ += "]}\n";
}

void json_results::epoch_ended() {
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
    add_alarm(counts);
    flush();
}

void json_results::session_ended(const session_counts& counts) {
    add_alarm(counts);
    fmt::format_to(
        std::back_inserter(text_),
        R"({{"type":"stats","units":{},"spikes":{},"late":{},"duplicates":{},"missing":{},)"
        R"("belated":{},"repeated":{},"unreadable":{},"epochs":{},"detections":{},"windows":{}}})",
        names_.size(), counts.order.accepted, counts.order.late, counts.order.duplicates,
        counts.missing, counts.belated, counts.repeated, counts.unreadable, counts.epochs,
        counts.detections, counts.windows);
    text_ += '\n';
    flush();
}

void json_results::flush() {
    if (text_.empty()) return;
    write_(text_);
    text_.clear();
}

}  // namespace spikeweave::live
