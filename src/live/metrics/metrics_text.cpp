#include "live/metrics/session_monitor.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>

namespace spikeweave::live {
namespace {

class metrics_page {
public:
    void begin(std::string_view name, std::string_view type, std::string_view help) {
        name_ = name;
        fmt::format_to(std::back_inserter(text_), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type,
                       help);
    }
    template <class Value>
    void add(std::string_view suffix, const Value& value) {
        fmt::format_to(std::back_inserter(text_), "{}{} {}\n", name_, suffix, value);
    }
    void counter(std::string_view name, std::string_view help, std::uint64_t value) {
        begin(name, "counter", help);
        add("", value);
    }
    std::string text() && { return std::move(text_); }

private:
    std::string_view name_{};
    std::string text_{};
};

std::string escaped(std::string_view label) {
    std::string text;
    for (const char c : label) {
        if (c == '\n') {
            text += "\\n";
            continue;
        }
        if (c == '\\' || c == '"') text += '\\';
        text += c;
    }
    return text;
}

void add_counts(metrics_page& page, const session_counts& counts) {
    page.counter("spikeweave_live_spikes_total", "Spikes that were analysed.",
                 counts.order.accepted);
    page.counter("spikeweave_live_late_spikes_total",
                 "Spikes that came too late and were left out.", counts.order.late);
    page.counter("spikeweave_live_duplicate_spikes_total",
                 "Second spikes of a unit at a time, which were left out.",
                 counts.order.duplicates);
    page.counter("spikeweave_live_missing_messages_total",
                 "Messages that did not come in their turn.", counts.missing);
    page.counter("spikeweave_live_belated_messages_total",
                 "Messages that had been missing and came after all.", counts.belated);
    page.counter("spikeweave_live_unreadable_messages_total", "Messages that could not be read.",
                 counts.unreadable);
    page.counter("spikeweave_live_epochs_total", "How often the clock was set.", counts.epochs);
    page.counter("spikeweave_live_detections_total", "Occurrences of armed episodes.",
                 counts.detections);
    page.counter("spikeweave_live_windows_total", "Windows that were mined.", counts.windows);
}

void add_arming(metrics_page& page, const arming_counts& counts, std::uint64_t untested) {
    page.begin("spikeweave_live_armed", "gauge", "Episodes that are armed automatically.");
    page.add("", counts.armed_now);
    page.counter("spikeweave_live_armed_total", "How often an episode was armed automatically.",
                 counts.armed);
    page.counter("spikeweave_live_late_arming_total",
                 "Decisions of windows that changed too late what is armed.", counts.late);
    page.counter("spikeweave_live_untested_windows_total",
                 "Windows that could not be tested in time, so that they armed nothing.", untested);
}

void add_deliveries(metrics_page& page, const delivery_reports& reports) {
    const auto add_each = [&](std::string_view name, std::string_view help, auto count) {
        page.begin(name, "counter", help);
        for (const auto& one : reports)
            page.add(fmt::format("{{to=\"{}\"}}", escaped(one->to())), (*one.*count)());
    };
    if (reports.empty()) return;
    add_each("spikeweave_live_delivered_total", "Results that a destination took.",
             &delivery_report::delivered);
    add_each("spikeweave_live_undelivered_total", "Results that a destination did not take.",
             &delivery_report::lost);
}

// @param label  of the histogram, such as stage="whole"; may be empty
void add_histogram(metrics_page& page, const latency_histogram& latency,
                   const std::string& label = {}) {
    const std::string first = label.empty() ? "" : label + ",";
    for (std::size_t i = 0; i < latency_histogram::bounds_s.size(); ++i)
        page.add(fmt::format("_bucket{{{}le=\"{}\"}}", first, latency_histogram::bounds_s[i]),
                 latency.count_up_to(i));
    const std::string alone = label.empty() ? "" : fmt::format("{{{}}}", label);
    page.add(fmt::format("_bucket{{{}le=\"+Inf\"}}", first), latency.count());
    page.add("_sum" + alone, latency.sum_s());
    page.add("_count" + alone, latency.count());
}

void add_latencies(metrics_page& page, const monitored_state& state) {
    page.begin("spikeweave_live_block_seconds", "histogram",
               "Time from the arrival of a block of spikes to the end of its processing.");
    add_histogram(page, state.latency);
    page.begin("spikeweave_live_stage_seconds", "histogram",
               "Time of each stage from the arrival of samples or spikes to a trigger.");
    for (std::size_t i = 0; i < stage_names.size(); ++i)
        if (state.stages[i].count() > 0)
            add_histogram(page, state.stages[i], fmt::format("stage=\"{}\"", stage_names[i]));
}

void add_samples(metrics_page& page, const sampling_state& samples) {
    page.begin("spikeweave_live_samples_behind_seconds", "gauge",
               "Time from the arrival of the last samples to their sorting, at most.");
    page.add("", samples.behind_s);
    page.begin("spikeweave_live_samples_most_behind_seconds", "gauge",
               "The longest such time of the session.");
    page.add("", samples.most_behind_s);
    page.counter("spikeweave_live_left_out_frames_total",
                 "Missing frames of samples that were left out because too many waited.",
                 samples.left_out);
    page.counter("spikeweave_live_unexplained_detections_total",
                 "Detections that no template explains.", samples.unexplained);
    if (!samples.motion_um.empty()) {
        page.begin("spikeweave_live_displacement_um", "gauge",
                   "Displacement of the tissue along the probe, at each depth, in micrometres.");
        for (const auto& [depth_um, displacement_um] : samples.motion_um)
            page.add(fmt::format("{{depth_um=\"{:g}\"}}", depth_um), displacement_um);
    }
    const auto add_each = [&](std::string_view name, std::string_view help, auto frames) {
        page.begin(name, "gauge", help);
        for (const sampling_state::channel& one : samples.channels)
            page.add(fmt::format("{{channel=\"{}\"}}", escaped(one.name)), one.*frames);
    };
    add_each("spikeweave_live_channel_limit_frames", "Frames at the limit of a channel's range.",
             &sampling_state::channel::at_limit);
    add_each("spikeweave_live_channel_constant_frames",
             "Frames in times of 10 ms and more in which a channel does not change.",
             &sampling_state::channel::constant);
}

}  // namespace

std::string metrics_text(const monitored_state& state, const delivery_reports& reports,
                         std::uint64_t memory_bytes, std::chrono::steady_clock::time_point now) {
    metrics_page page;
    add_counts(page, state.counts);
    if (state.counts.arming) add_arming(page, *state.counts.arming, state.counts.untested);
    if (state.watermark_us) {
        page.begin("spikeweave_live_watermark_age_seconds", "gauge",
                   "Time since the watermark moved for the last time.");
        page.add("", std::chrono::duration<double>(now - state.watermark_since).count());
    }
    add_deliveries(page, reports);
    add_latencies(page, state);
    if (state.sampling) add_samples(page, *state.sampling);
    page.begin("process_resident_memory_bytes", "gauge", "Resident memory of the process.");
    page.add("", memory_bytes);
    return std::move(page).text();
}

}  // namespace spikeweave::live
