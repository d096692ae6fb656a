#include "live/sinks/json_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace spikeweave::live {
namespace {

void append_units(std::string& text, const episode& what, const named_units& units) {
    text += "\"units\":[";
    for (std::size_t i = 0; i < what.units.size(); ++i) {
        if (i > 0) text += ',';
        text += units.json(what.units[i]);
    }
    text += ']';
}

void append_delays(std::string& text, const episode& what) {
    text += "\"delays_us\":[";
    for (std::size_t i = 0; i < what.delays.size(); ++i)
        fmt::format_to(std::back_inserter(text), "{}[{},{}]", i > 0 ? "," : "",
                       what.delays[i].low.count(), what.delays[i].high.count());
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
        text += ',';
        append_delays(text, what);
        fmt::format_to(std::back_inserter(text), ",\"count\":{}}}", count);
    }
    text += ']';
    if (window.was_tested)
        fmt::format_to(std::back_inserter(text), R"(,"was_tested":{})", *window.was_tested);
    text += "}\n";
    return text;
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
      failures_(options_.reports) {}

void json_results::on(const units_added& more) {
    units_.add(more.names);
    if (armed_texts_.empty()) describe_armed();
}

// Describes each armed episode and pattern as the beginning of an object.
void json_results::describe_armed() {
    const auto listed = [](std::size_t size, const auto& item) {
        std::string list = "[";
        for (std::size_t i = 0; i < size; ++i) {
            if (i > 0) list += ',';
            list += item(i);
        }
        return list + ']';
    };
    const auto units_now = units_.now();
    const auto name_of = [&](unit_id unit) { return units_now->json(unit); };
    for (const armed_episode& one : armed_) {
        const auto& units = one.what.units;
        armed_texts_.push_back(
            fmt::format(R"("episode":{},"units":{})", armed_texts_.size(),
                        listed(units.size(), [&](std::size_t i) { return name_of(units[i]); })));
    }
    for (std::size_t number = 0; number < options_.patterns.patterns.size(); ++number) {
        const auto& spikes = options_.patterns.patterns[number];
        armed_texts_.push_back(fmt::format(
            R"("pattern":{},"units":{},"lags_us":{})", number,
            listed(spikes.size(), [&](std::size_t i) { return name_of(spikes[i].unit); }),
            listed(spikes.size(), [&](std::size_t i) {
                return fmt::format("{}", (options_.patterns.bin * spikes[i].lag).count());
            })));
    }
}

void json_results::on(const detection& what) {
    fmt::format_to(
        std::back_inserter(line_), R"({{"type":"detection",{},"t_us":[{},{}],"spikes_us":[{}])",
        armed_texts_[what.armed], what.begin_us, what.end_us, fmt::join(what.times_us, ","));
    if (!what.is_trigger())
        fmt::format_to(std::back_inserter(line_), R"(,"suppressed":"{}")",
                       to_string(what.suppressed));
    line_ += '}';
    end_line("detection");
}

// The window that decided, and from when on its decision counts.
void json_results::begin_change(std::string_view type, const arming_change& change) {
    fmt::format_to(std::back_inserter(line_),
                   R"({{"type":"{}","t_us":{},"window":{},"window_epoch":{},"is_late":{},)", type,
                   change.from.time_us, change.window, change.due.epoch, change.is_late);
}

void json_results::on(const arming_change& change) {
    const auto units = units_.now();
    for (const auto& [number, what, per_minute] : change.armed) {
        if (number == armed_texts_.size()) {
            std::string& text = armed_texts_.emplace_back(fmt::format(R"("episode":{},)", number));
            append_units(text, what, *units);
        }
        if (change.was_told) continue;
        begin_change("armed", change);
        line_ += armed_texts_[number] + ',';
        append_delays(line_, what);
        fmt::format_to(std::back_inserter(line_), R"(,"expected_per_min":{:.4g}}})", per_minute);
        end_line("armed");
    }
    if (change.was_told) return;
    for (const std::size_t number : change.disarmed) {
        begin_change("disarmed", change);
        line_ += armed_texts_[number] + '}';
        end_line("disarmed");
    }
    for (const refused_episode& one : change.refused) {
        begin_change("refused", change);
        append_units(line_, one.what, *units);
        line_ += ',';
        append_delays(line_, one.what);
        fmt::format_to(std::back_inserter(line_), R"(,"expected_per_min":{:.4g},"reason":"{}"}})",
                       one.per_minute, reason_of(one));
        end_line("refused");
    }
}

// Told once, because the rates at the end are among the counts.
void json_results::on(const chance_rates& rates) {
    if (std::exchange(told_chance_, true)) return;
    fmt::format_to(std::back_inserter(line_), R"({{"type":"chance","t_us":[{},{}],"armed":[)",
                   rates.begin_us, rates.end_us);
    for (std::size_t i = 0; i < rates.per_minute.size(); ++i)
        fmt::format_to(std::back_inserter(line_), R"({}{{{},"expected_per_min":{:.4g}}})",
                       i > 0 ? "," : "", armed_texts_[i], rates.per_minute[i]);
    line_ += "]}";
    end_line("chance");
}

void json_results::on(const armed_tallied& all) {
    for (std::size_t i = 0; i < all.armed.size(); ++i) {
        const auto& [detected, completed, expected, per_minute] = all.armed[i];
        fmt::format_to(std::back_inserter(tallies_), R"({}{{{},"detected":{})", i > 0 ? "," : "",
                       armed_texts_[i], detected);
        if (i < armed_.size() && armed_[i].fire_at > 0)
            fmt::format_to(std::back_inserter(tallies_),
                           R"(,"completed":{},"completed_share":{:.4g})", completed,
                           static_cast<double>(completed) /
                               static_cast<double>(std::max<std::uint64_t>(detected, 1)));
        fmt::format_to(std::back_inserter(tallies_),
                       R"(,"expected":{:.4g},"expected_per_min":{:.4g}}})", expected, per_minute);
    }
}

// Another thread may call it. The line is made before others have to wait.
void json_results::on(const mined_window& window) {
    to_->take(window.is_skipped() ? "skipped" : "window", line_of(window, *units_.now()));
    to_->flush();
}

void json_results::on(const silent_range& windows) {
    const auto& [first, last] = windows.windows;
    to_->take("silent",
              fmt::format(R"({{"type":"silent","windows":[{},{}],"epoch":{},"t_us":[{},{}],)"
                          R"("has_gap":{}}})"
                          "\n",
                          first.number, last.number, windows.epoch, first.begin.count(),
                          last.end.count(), windows.has_gap));
    to_->flush();
}

void json_results::on(const counts_in_window& now) {
    fmt::format_to(std::back_inserter(line_), R"({{"type":"counts","t_us":[{},{}],"counts":[{}]}})",
                   now.window.begin.count(), now.window.end.count(), fmt::join(now.counts, ","));
    end_line("counts");
}

void json_results::on(const epoch_ended& /*end*/) {
    line_ += R"({"type":"epoch"})";
    end_line("epoch");
}

void json_results::add_alarm(const session_counts& counts) {
    const auto losses = alarm_.raise(counts);
    if (!losses) return;
    fmt::format_to(std::back_inserter(line_),
                   R"({{"type":"alarm","missing":{},"unreadable":{},"late":{}}})", losses->missing,
                   losses->unreadable, losses->late);
    end_line("alarm");
}

void json_results::on(const samples_waiting& now) {
    fmt::format_to(std::back_inserter(line_), R"({{"type":"alarm","behind_s":{:.1f}}})",
                   now.behind_s);
    end_line("alarm");
}

void json_results::add_alarms_of_destinations() {
    failures_.raise([this](const delivery_report& one, std::uint64_t lost) {
        fmt::format_to(std::back_inserter(line_),
                       R"({{"type":"alarm","to":{},"undelivered":{},"reason":{}}})",
                       json_text(one.to()), lost, json_text(one.reason()));
        end_line("alarm");
    });
}

void json_results::add_stats(const session_counts& counts) {
    fmt::format_to(
        std::back_inserter(line_),
        R"({{"type":"stats","units":{},"spikes":{},"late":{},"duplicates":{},"missing":{},)"
        R"("belated":{},"repeated":{},"unreadable":{},"epochs":{},"detections":{},"windows":{},)"
        R"("incomplete":{},"skipped":{},"undelivered":{})",
        units_.now()->size(), counts.order.accepted, counts.order.late, counts.order.duplicates,
        counts.missing, counts.belated, counts.repeated, counts.unreadable, counts.epochs,
        counts.detections, counts.windows, counts.incomplete, counts.skipped,
        undelivered_by(options_.reports));
    if (counts.arming)
        fmt::format_to(std::back_inserter(line_),
                       R"(,"arming":{{"now":{},"armed":{},"disarmed":{},"refused":{},"late":{},)"
                       R"("untested":{}}})",
                       counts.arming->armed_now, counts.arming->armed, counts.arming->disarmed,
                       counts.arming->refused, counts.arming->late, counts.untested);
    const suppression_counts& not_given = counts.suppressed;
    if (!tallies_.empty())
        fmt::format_to(std::back_inserter(line_),
                       R"(,"triggers":{},"suppressed":{{"hold-off":{},"rate":{},"mute":{},)"
                       R"("unchecked":{}}},"armed":[{}])",
                       counts.triggers(), not_given.hold_off, not_given.rate, not_given.mute,
                       not_given.unchecked, tallies_);
    line_ += '}';
    end_line("stats");
}

void json_results::on(const block_ended& block) {
    add_alarm(block.counts);
    add_alarms_of_destinations();
    if (options_.stats_every > duration{0} && clock::now() - last_stats_ >= options_.stats_every) {
        last_stats_ = clock::now();
        add_stats(block.counts);
    }
    to_->flush();
}

void json_results::on(const session_ended& end) {
    add_alarm(end.counts);
    add_alarms_of_destinations();
    add_stats(end.counts);
    to_->flush();
}

void json_results::end_line(std::string_view type) {
    line_ += '\n';
    to_->take(type, line_);
    line_.clear();
}

}  // namespace spikeweave::live
