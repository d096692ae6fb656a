#include "live/sinks/json_results.hpp"

#include <fmt/format.h>

#include <algorithm>
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

void written_lines::take(std::string_view, std::string_view line) {
    const std::lock_guard lock(mutex_);
    text_ += line;
}

void written_lines::flush() {
    const std::lock_guard lock(mutex_);
    if (text_.empty()) return;
    write_(text_);
    text_.clear();
}

json_results::json_results(std::vector<armed_episode> armed, std::unique_ptr<line_output> to,
                           json_results_options options)
    : armed_(std::move(armed)),
      to_(std::move(to)),
      options_(std::move(options)),
      alarmed_of_(options_.reports.size()) {}

void json_results::units_added(std::span<const std::string> names) {
    units_.add(names);
    for (const std::string& name : names) names_.push_back(json_text(name));
}

void json_results::add_units_of(const episode& what) {
    line_ += "\"units\":[";
    for (std::size_t i = 0; i < what.units.size(); ++i) {
        if (i > 0) line_ += ',';
        line_ += names_[to_index(what.units[i])];
    }
    line_ += ']';
}

void json_results::detected(const episode_detection& detection) {
    const auto times = detection.times_us;
    fmt::format_to(std::back_inserter(line_), R"({{"type":"detection","episode":{},)",
                   detection.episode);
    add_units_of(armed_[detection.episode].what);
    fmt::format_to(std::back_inserter(line_), R"(,"t_us":[{},{}],"spikes_us":[{}]}})",
                   times.front(), times.back(), fmt::join(times, ","));
    end_line("detection");
}

void json_results::mined(const mined_window& window) {
    const auto& [bounds, spikes, table] = window.mined;
    fmt::format_to(std::back_inserter(line_),
                   R"({{"type":"window","window":{},"t_us":[{},{}],"spikes":{},"threshold":{},)"
                   R"("has_gap":{},"episodes":[)",
                   bounds.number, bounds.begin.count(), bounds.end.count(), spikes, table.threshold,
                   window.has_gap);
    bool is_first = true;
    for (const counted_episode* const one : units_.ordered(table)) {
        const auto& [what, count] = *one;
        line_ += std::exchange(is_first, false) ? "{" : ",{";
        add_units_of(what);
        line_ += ",\"delays_us\":[";
        for (std::size_t i = 0; i < what.delays.size(); ++i)
            fmt::format_to(std::back_inserter(line_), "{}[{},{}]", i > 0 ? "," : "",
                           what.delays[i].low.count(), what.delays[i].high.count());
        fmt::format_to(std::back_inserter(line_), "],\"count\":{}}}", count);
    }
    line_ += "]}";
    end_line("window");
}

void json_results::epoch_ended() {
    line_ += R"({"type":"epoch"})";
    end_line("epoch");
}

// Tells of the first loss, and again whenever twice as much is lost.
void json_results::add_alarm(const session_counts& counts) {
    const std::uint64_t lost = losses_of(counts);
    if (lost == 0 || lost < 2 * alarmed_) return;
    alarmed_ = lost;
    fmt::format_to(std::back_inserter(line_),
                   R"({{"type":"alarm","missing":{},"unreadable":{},"late":{}}})",
                   counts.missing - counts.belated, counts.unreadable, counts.order.late);
    end_line("alarm");
}

void json_results::add_alarms_of_destinations() {
    for (std::size_t i = 0; i < options_.reports.size(); ++i) {
        const delivery_report& one = *options_.reports[i];
        if (!one.has_trouble()) continue;
        const std::uint64_t lost = one.lost();
        std::optional<std::uint64_t>& alarmed = alarmed_of_[i];
        if (alarmed && lost < std::max<std::uint64_t>(2 * *alarmed, 1)) continue;
        alarmed = lost;
        fmt::format_to(std::back_inserter(line_),
                       R"({{"type":"alarm","to":{},"undelivered":{},"reason":{}}})",
                       json_text(one.to()), lost, json_text(one.reason()));
        end_line("alarm");
    }
}

void json_results::add_stats(const session_counts& counts) {
    fmt::format_to(
        std::back_inserter(line_),
        R"({{"type":"stats","units":{},"spikes":{},"late":{},"duplicates":{},"missing":{},)"
        R"("belated":{},"repeated":{},"unreadable":{},"epochs":{},"detections":{},"windows":{}}})",
        names_.size(), counts.order.accepted, counts.order.late, counts.order.duplicates,
        counts.missing, counts.belated, counts.repeated, counts.unreadable, counts.epochs,
        counts.detections, counts.windows);
    end_line("stats");
}

void json_results::block_ended(const session_counts& counts) {
    add_alarm(counts);
    add_alarms_of_destinations();
    if (options_.stats_every > duration{0} && clock::now() - last_stats_ >= options_.stats_every) {
        last_stats_ = clock::now();
        add_stats(counts);
    }
    to_->flush();
}

void json_results::session_ended(const session_counts& counts) {
    add_alarm(counts);
    add_alarms_of_destinations();
    add_stats(counts);
    to_->flush();
}

void json_results::end_line(std::string_view type) {
    line_ += '\n';
    to_->take(type, line_);
    line_.clear();
}

}  // namespace spikeweave::live
