#include "live/sources/open_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "live/network/lsl.hpp"
#include "live/sinks/unit_names.hpp"
#include "live/sources/played_file.hpp"
#include "live/sources/sample_streams.hpp"
#include "live/sources/sorted_samples.hpp"
#include "live/sources/streams.hpp"
#include "live/triggers/false_alarm_limit.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/units_left_out.hpp"

namespace spikeweave::live {
namespace {

constexpr std::string_view lateness_prefix = "lateness:";

// The sources that are named by what they are and where.
constexpr std::string_view open_ephys_zmq = "open-ephys-zmq://";
constexpr std::string_view open_ephys_samples = "open-ephys-continuous://";
constexpr std::string_view open_ephys_events = "open-ephys-events://";
constexpr std::string_view own_stream = "spikeweave://";
constexpr std::string_view lsl_prefix = "lsl:";

episode with_ids(const named_episode& named, const spike_sequence& spikes) {
    episode what{.delays = named.delays};
    for (const std::string& unit : named.units) what.units.push_back(spikes.unit(unit));
    return what;
}

void arm(opened_source& opened, const live_options& options, const spike_sequence& spikes) {
    if (!options.patterns.empty()) opened.patterns = read_patterns(options.patterns, spikes);
    if (!options.episodes.empty()) opened.armed = read_armed_episodes(options.episodes, spikes);
    for (const named_episode& one : options.armed) opened.armed.push_back({with_ids(one, spikes)});
    for (armed_episode& one : opened.armed) {
        if (one.fire_at == 0) one.fire_at = options.fire_at;
        if (one.fire_at > one.what.size())
            throw invalid_argument(
                "fire_at", fmt::format("the episode {} has {} spikes",
                                       armed_text(one.what, spikes.unit_names()), one.what.size()));
    }
}

void check_rates(opened_source& opened, const live_options& options, const spike_sequence& spikes) {
    if (!options.triggers.max_false_alarms || spikes.empty()) return;
    const double minutes = to_seconds(spikes.span().length() + duration{1}) / 60;
    std::vector<double> per_minute = expected_by_chance(spikes, opened.armed, opened.patterns);
    for (double& rate : per_minute) rate /= minutes;
    false_alarm_limit limit(opened.armed, opened.patterns, *options.triggers.max_false_alarms);
    limit.take(units_added{spikes.unit_names()});
    limit.check(per_minute);
    opened.has_checked_rates = true;
}

opened_source open_file(const std::string& from, const live_options& options,
                        const execution& run) {
    spike_file file = read_spikes(from, options.reading, run);
    std::vector<std::string> warnings = warnings_of(file);
    const reasons_left_out left_out = units_left_out(file);
    if (!left_out.empty()) check_not_left_out(left_out, units_of_armed(options));
    opened_source opened = open_spikes(std::move(file.spikes), options, run.stop);
    opened.warnings = std::move(warnings);
    return opened;
}

// Units of templates without labels have empty ones.
std::vector<std::string> labels_of(const template_set& set) {
    std::vector<std::string> out(set.unit_count());
    std::ranges::transform(set.verdicts(), out.begin(), [](const unit_verdict& each) {
        return std::string(to_string(each.label));
    });
    return out;
}

opened_source sorting(std::unique_ptr<sample_stream> samples, template_set set,
                      const live_options& options, std::optional<interrupted_session> resumed) {
    const std::vector<std::string> labels = labels_of(set);
    const units_by_label chosen = choose_by_label(labels, options.reading.labels);
    reasons_left_out left_out;
    for (std::size_t u = 0; u < labels.size(); ++u)
        if (!std::ranges::binary_search(chosen.used, u))
            left_out.emplace(std::to_string(u + 1), label_reason(labels[u]));
    check_not_left_out(left_out, units_of_armed(options));
    auto sorted =
        std::make_unique<sorted_samples>(std::move(samples), std::move(set), chosen.used, resumed);
    opened_source opened = armed_before(options, sorted->unit_names());
    opened.order.policy = order_policy::block;
    opened.from = std::move(sorted);
    if (!chosen.message.empty()) opened.warnings.push_back(chosen.message);
    return opened;
}

// A session goes on where it was interrupted. The samples before are sorted once more, so that the
// sorter has the state that it had: its filters and blocks reach some hundredths of a second.
opened_source open_recording(const std::string& from, const live_options& options,
                             std::optional<std::int64_t> watermark_us, const execution& run) {
    recording_read_options how = options.recording;
    how.stream = options.stream;
    recording samples = read_recording(from, how, run);
    const recording_description& of = samples.description();
    const std::vector<std::string> warnings = of.warnings;
    std::optional<interrupted_session> resumed;
    std::uint64_t first = 0;
    std::uint64_t next = 0;
    if (watermark_us) {
        resumed = {.watermark_us = *watermark_us, .repeats = true};
        next = static_cast<std::uint64_t>(
            std::max<std::int64_t>(0, first_frame_after(*watermark_us, of)));
        const auto second = static_cast<std::uint64_t>(of.rate_hz);
        const std::uint64_t block = online_sorter::block_frames(of.rate_hz);
        first = next > second ? (next - second) / block * block : 0;
    }
    opened_source opened = sorting(
        std::make_unique<played_samples>(std::move(samples), options.speed, run.stop, first, next),
        read_templates(options.templates), options, resumed);
    opened.warnings.insert(opened.warnings.begin(), warnings.begin(), warnings.end());
    return opened;
}

// The channels of a stream of samples, which does not describe them itself.
recording_description described_by(const template_set& set, const live_options& options,
                                   double usual_gain_uv) {
    const feature_basis& basis = set.basis();
    recording_read_options given = options.recording;
    if (const auto channels = std::exchange(given.channels, 0U);
        channels != 0 && channels != basis.contacts.size())
        throw invalid_argument("channels", fmt::format("it is {}, but the templates have {}",
                                                       channels, basis.contacts.size()));
    if (const double rate_hz = std::exchange(given.sample_rate, 0);
        rate_hz != 0 && rate_hz != basis.rate_hz)
        throw invalid_argument("sample_rate", fmt::format("it is {}, but the templates have {}",
                                                          rate_hz, basis.rate_hz));
    const double gain_uv = std::exchange(given.gain, 0);
    if (given != recording_read_options{})
        throw invalid_argument(
            "a stream of samples has no format, header or probe of its own: the "
            "templates have its channels");
    recording_description out{.rate_hz = basis.rate_hz};
    for (const feature_basis::contact& each : basis.contacts)
        out.channels.push_back({.name = std::to_string(out.channels.size()),
                                .gain_uv = gain_uv > 0 ? gain_uv : usual_gain_uv,
                                .x_um = each.x_um,
                                .y_um = each.y_um,
                                .shank = each.shank});
    return out;
}

opened_source open_sample_stream(const std::string& from, const live_options& options,
                                 std::optional<std::int64_t> watermark_us,
                                 const std::stop_token& stop) {
    // Of Intan's and IMEC's data, as the GUI sends and records them.
    constexpr double open_ephys_gain_uv = 0.195;
    template_set set = read_templates(options.templates);
    std::unique_ptr<sample_stream> samples;
    if (from.starts_with(open_ephys_samples))
        samples =
            open_ephys_continuous("tcp://" + from.substr(open_ephys_samples.size()), options.stream,
                                  described_by(set, options, open_ephys_gain_uv), stop);
    else
        samples = std::make_unique<raw_samples>(from, described_by(set, options, 1), stop);
    std::optional<interrupted_session> resumed;
    if (watermark_us) resumed = {.watermark_us = *watermark_us};
    return sorting(std::move(samples), std::move(set), options, resumed);
}

// Whether the source sends samples. A pipe sends what is expected of it.
bool sends_samples(const std::string& from, const live_options& options) {
    const bool has_templates = !options.templates.empty();
    if (from.starts_with(open_ephys_samples)) {
        if (!has_templates)
            throw invalid_argument(
                "templates", fmt::format("{} sends samples: the templates of its units are "
                                         "needed, which spikeweave sort --save-templates writes",
                                         from));
        return true;
    }
    if (has_templates && (from.find("://") != std::string::npos || from.starts_with(lsl_prefix)))
        throw invalid_argument("templates", fmt::format("{} sends spikes, no samples", from));
    return has_templates;
}

bool is_named_source(const std::string& from) {
    for (const std::string_view scheme :
         {open_ephys_zmq, open_ephys_samples, open_ephys_events, own_stream, lsl_prefix})
        if (from.starts_with(scheme)) return true;
    if (from.find("://") == std::string::npos) return false;
    throw invalid_argument(fmt::format(
        "'{}' is no source: expected {}HOST:5556, {}HOST:5556, {}HOST:5557, {}ADDRESS:5600, "
        "{}NAME, "
        "a file or -",
        from, open_ephys_zmq, open_ephys_samples, open_ephys_events, own_stream, lsl_prefix));
}

opened_source open_stream(const std::string& from, const live_options& options,
                          const session_so_far& known, const std::stop_token& stop) {
    if (sends_samples(from, options))
        return open_sample_stream(from, options, known.watermark_us, stop);
    opened_source opened = armed_before(options, known.unit_names);
    const duration lateness = options.order ? parse_order(*options.order).lateness : duration{0};
    const auto received = [&](open_ephys_sender sender, std::string_view scheme) {
        opened.from = open_ephys(sender, "tcp://" + from.substr(scheme.size()), options.stream,
                                 known.unit_names, stop);
    };
    if (from.starts_with(open_ephys_zmq)) {
        opened.order.policy = order_policy::block;
        received(open_ephys_sender::zmq_interface, open_ephys_zmq);
    } else if (from.starts_with(open_ephys_events)) {
        opened.order.policy = order_policy::lateness;
        received(open_ephys_sender::event_broadcaster, open_ephys_events);
    } else if (is_own_stream(from)) {
        opened.order.policy = order_policy::block;
        opened.from =
            acknowledged_stream("tcp://" + from.substr(own_stream.size()),
                                senders(known.unit_names, known.senders, options.sources), stop);
    } else if (from.starts_with(lsl_prefix)) {
        const std::string name = from.substr(lsl_prefix.size());
        check_lsl_name(name);
        opened.from = lsl_stream(name, known.unit_names, stop, lateness);
    } else {
        opened.from = json_lines_stream(from, known.unit_names, stop, lateness);
    }
    return opened;
}

}  // namespace

order_options parse_order(const std::string& text) {
    if (text == "source") return {.policy = order_policy::source};
    if (text == "block") return {.policy = order_policy::block};
    if (!text.starts_with(lateness_prefix))
        throw invalid_argument("order", fmt::format("'{}' is not source, block or lateness:TIME, "
                                                    "such as lateness:30ms",
                                                    text));
    const duration lateness = parse_duration(text.substr(lateness_prefix.size()));
    if (lateness < duration{0})
        throw invalid_argument("order", fmt::format("'{}' has a negative time", text));
    return {.policy = order_policy::lateness, .lateness = lateness};
}

bool is_own_stream(const std::string& from) {
    return from.starts_with(own_stream);
}

bool is_stream(const std::filesystem::path& from) {
    std::error_code unknown;
    return is_named_source(from.string()) || from == "-" || from.extension() == ".jsonl" ||
           from.extension() == ".ndjson" || std::filesystem::is_fifo(from, unknown);
}

std::vector<std::string> units_of_armed(const live_options& options) {
    std::vector<std::string> names;
    const auto add = [&](const std::vector<std::string>& more) {
        names.insert(names.end(), more.begin(), more.end());
    };
    if (!options.episodes.empty()) add(units_of_episodes(options.episodes));
    for (const named_episode& one : options.armed) add(one.units);
    if (!options.patterns.empty()) add(units_of_patterns(options.patterns));
    std::sort(names.begin(), names.end(), natural_less);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

opened_source armed_before(const live_options& options, std::vector<std::string> unit_names) {
    opened_source opened;
    arm(opened, options, spike_sequence({}, {}, std::move(unit_names), {}));
    return opened;
}

opened_source open_spikes(spike_sequence spikes, const live_options& options,
                          const std::stop_token& stop) {
    opened_source opened{.spikes = spikes.size()};
    arm(opened, options, spikes);
    check_rates(opened, options, spikes);
    opened.from = std::make_unique<played_file>(std::move(spikes), options.speed, stop);
    return opened;
}

opened_source open_source(const std::string& from, const live_options& options,
                          const execution& run) {
    if (is_stream(from)) return open_stream(from, options, {units_of_armed(options)}, run.stop);
    return options.templates.empty() ? open_file(from, options, run)
                                     : open_recording(from, options, {}, run);
}

opened_source open_again(const std::string& from, const live_options& options,
                         const session_so_far& session, const execution& run) {
    if (is_stream(from)) return open_stream(from, options, session, run.stop);
    return open_recording(from, options, session.watermark_us, run);
}

}  // namespace spikeweave::live
