#include "live/sources/open_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <system_error>
#include <utility>

#include "live/network/lsl.hpp"
#include "live/sinks/unit_names.hpp"
#include "live/sources/learned_samples.hpp"
#include "live/sources/played_file.hpp"
#include "live/sources/sample_streams.hpp"
#include "live/sources/sorted_samples.hpp"
#include "live/sources/streams.hpp"
#include "live/triggers/false_alarm_limit.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/sort.hpp"
#include "spikeweave/spikes/units_left_out.hpp"

namespace spikeweave::live {
namespace {

constexpr std::string_view lateness_prefix = "lateness:";

// The sources that are named by what they are and where.
constexpr std::string_view open_ephys_zmq = "open-ephys-zmq://";
constexpr std::string_view open_ephys_samples = "open-ephys-continuous://";
constexpr std::string_view open_ephys_events = "open-ephys-events://";
constexpr std::string_view spikeglx_prefix = "spikeglx://";
constexpr std::string_view own_stream = "spikeweave://";
constexpr std::string_view lsl_prefix = "lsl:";
constexpr std::string_view lsl_samples_prefix = "lsl-samples:";

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

// With 384 channels a GPU shortens the delay of spikes from 1.3 to 0.5 ms; with 32, one core needs
// 0.1 ms. The limit in between was chosen, not measured.
constexpr std::size_t fewest_channels_of_gpu = 128;

execution run_of(const live_options& options, std::size_t channels) {
    execution out{.threads = options.threads};
    if (options.devices)
        out.devices = *options.devices;
    else if (const auto all = devices(); channels >= fewest_channels_of_gpu && !all.empty())
        out.devices = {all.front().ordinal};
    return out;
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
    const execution sorting_run = run_of(options, samples->description().channels.size());
    auto sorted = std::make_unique<sorted_samples>(std::move(samples), std::move(set), chosen.used,
                                                   options.drift, sorting_run, std::move(resumed));
    opened_source opened = armed_before(options, sorted->unit_names());
    opened.order.policy = order_policy::block;
    opened.from = std::move(sorted);
    if (!chosen.message.empty()) opened.warnings.push_back(chosen.message);
    return opened;
}

// As `sort` finds them, with its defaults.
learned_units learn_units(const recording& from, const live_options& options,
                          const std::stop_token& stop) {
    sort_options how;
    how.run.threads = options.threads;
    how.run.devices = options.devices;
    how.motion.model = motion_model::none;
    how.save_templates = "templates";  // the result has them
    how.writes_model = false;
    const sort_result found = sort_recording(from, how, {.stop = stop});
    if (!found.learned)
        throw invalid_argument(
            "learn", fmt::format("no unit has enough spikes in the first {:g} s of the samples: "
                                 "learn from more of them, or give `templates`",
                                 to_seconds(from.length())));
    units_by_label chosen = choose_by_label(labels_of(*found.learned), options.reading.labels);
    learned_units out{.set = *found.learned,
                      .used = std::move(chosen.used),
                      .run = run_of(options, from.channel_count()),
                      .warnings = from.description().warnings};
    if (!chosen.message.empty()) out.warnings.push_back(std::move(chosen.message));
    return out;
}

void refuse_to_arm_unknown_units(const live_options& options) {
    const std::vector<std::string> names = units_of_armed(options);
    if (names.empty()) return;
    throw invalid_argument(
        "templates", fmt::format("unit {} is not known yet, because the session learns the units "
                                 "of its samples: give the templates of a sorting, whose units "
                                 "can be monitored, or `arm` auto",
                                 names.front()));
}

// Places the channels of a stream, which does not state their positions.
recording_description placed(recording_description of, const std::filesystem::path& probe) {
    const std::size_t channels = of.channels.size();
    if (probe.empty() && of.positions == position_source::file) return of;
    if (probe.empty()) {
        constexpr double pitch_um = 20;
        for (std::size_t c = 0; c < channels; ++c)
            of.channels[c].y_um = pitch_um * static_cast<double>(c);
        of.warnings.emplace_back(
            "The positions of the channels are not known: they are put on a line, 20 um apart.");
        return of;
    }
    of = recording(std::move(of), std::vector<std::int16_t>()).with_probe(probe).description();
    if (of.channels.size() == channels) return of;
    throw invalid_argument(
        "probe", fmt::format("{} of {} channels have no contact in '{}': send only those that do",
                             channels - of.channels.size(), channels, probe.string()));
}

opened_source learning(std::unique_ptr<kept_samples> samples, const live_options& options,
                       const execution& run) {
    opened_source opened;
    opened.order.policy = order_policy::block;
    opened.from = std::make_unique<learned_samples>(
        std::move(samples),
        unit_learning{.length = options.learn,
                      .drift = options.drift,
                      .learn =
                          [options](const recording& from, const std::stop_token& stop) {
                              return learn_units(from, options, stop);
                          },
                      .tell = options.tell},
        run.stop);
    return opened;
}

// The frame from which a recording is sorted once more, so that the sorter has the state that it
// had before a frame: its filters and blocks reach some hundredths of a second, and the motion that
// it follows is estimated from the spikes of a whole bin.
std::uint64_t first_repeated(std::uint64_t before, const recording_description& of,
                             motion_model drift) {
    const std::uint64_t block = online_sorter::block_frames(of.rate_hz);
    const probe_motion follows = unmoved(of, drift);
    const double unit_s = follows.empty() ? 1 : follows.time_bin_s;
    const auto frames =
        static_cast<std::uint64_t>(std::llround(unit_s * of.rate_hz)) / block * block;
    return before < 2 * frames ? 0 : (before / frames - 1) * frames;
}

// A session goes on where it was interrupted.
opened_source open_recording(const std::string& from, const live_options& options,
                             const session_so_far& session, const execution& run) {
    if (options.templates.empty()) refuse_to_arm_unknown_units(options);
    recording_read_options how = options.recording;
    how.stream = options.stream;
    recording samples = read_recording(from, how, run);
    if (options.templates.empty())
        return learning(std::make_unique<kept_samples>(std::make_unique<played_samples>(
                            std::move(samples), options.speed, run.stop)),
                        options, run);
    const recording_description& of = samples.description();
    const std::vector<std::string> warnings = of.warnings;
    std::optional<interrupted_session> resumed;
    std::uint64_t first = 0;
    std::uint64_t next = 0;
    if (session.watermark_us) {
        resumed = {
            .watermark_us = *session.watermark_us, .repeats = true, .motion = session.motion};
        next = static_cast<std::uint64_t>(
            std::max<std::int64_t>(0, first_frame_after(*session.watermark_us, of)));
        first = first_repeated(next, of, options.drift);
    }
    opened_source opened = sorting(
        std::make_unique<played_samples>(std::move(samples), options.speed, run.stop, first, next),
        read_templates(options.templates), options, resumed);
    opened.warnings.insert(opened.warnings.begin(), warnings.begin(), warnings.end());
    return opened;
}

recording_channel channel_of_stream(std::size_t number, double gain_uv) {
    return {.name = std::to_string(number), .gain_uv = gain_uv};
}

// The channels of a stream of samples, which does not describe them itself.
recording_description described_by(const template_set& set, const live_options& options,
                                   double gain_uv) {
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
    given.gain = 0;
    if (given != recording_read_options{})
        throw invalid_argument(
            "a stream of samples has no format, header or probe of its own: the "
            "templates have its channels");
    recording_description out{.rate_hz = basis.rate_hz};
    for (const feature_basis::contact& each : basis.contacts) {
        recording_channel& channel =
            out.channels.emplace_back(channel_of_stream(out.channels.size(), gain_uv));
        channel.x_um = each.x_um;
        channel.y_um = each.y_um;
        channel.shank = each.shank;
    }
    return out;
}

// Without templates. What is not given has to be known from the first samples.
recording_description described_by(const live_options& options, double gain_uv) {
    recording_read_options given = options.recording;
    recording_description out{.rate_hz = std::exchange(given.sample_rate, 0)};
    for (const auto channels = std::exchange(given.channels, 0U); out.channels.size() < channels;)
        out.channels.push_back(channel_of_stream(out.channels.size(), gain_uv));
    given.gain = 0;
    given.probe.clear();
    if (given != recording_read_options{})
        throw invalid_argument("a stream of samples has no format or header");
    return out;
}

opened_source open_sample_stream(const std::string& from, const live_options& options,
                                 const session_so_far& known, const execution& run) {
    // Of Intan's and IMEC's data, as the GUI sends and records them.
    constexpr double open_ephys_gain_uv = 0.195;
    const bool is_open_ephys = from.starts_with(open_ephys_samples);
    const bool is_spikeglx = from.starts_with(spikeglx_prefix);
    const bool learns = options.templates.empty();
    if (learns) refuse_to_arm_unknown_units(options);
    const double gain_uv = options.recording.gain > 0 ? options.recording.gain
                           : is_open_ephys            ? open_ephys_gain_uv
                                                      : 1;
    template_set set = learns ? template_set() : read_templates(options.templates);
    recording_description of =
        learns ? described_by(options, gain_uv) : described_by(set, options, gain_uv);
    std::unique_ptr<sample_stream> samples;
    if (is_open_ephys) {
        samples = open_ephys_continuous("tcp://" + from.substr(open_ephys_samples.size()),
                                        options.stream, of, gain_uv, run.stop);
    } else if (is_spikeglx) {
        samples = spikeglx(from.substr(spikeglx_prefix.size()), options.stream, of,
                           options.recording.gain, known.watermark_us, run.stop);
    } else if (from.starts_with(lsl_samples_prefix)) {
        const std::string name = from.substr(lsl_samples_prefix.size());
        check_lsl_name(name);
        samples = lsl_sample_stream(name, of, options.recording.gain, run.stop);
    } else {
        if (of.channels.empty() || of.rate_hz == 0)
            throw invalid_argument(
                "raw samples need `channels` and `sample_rate`, and should have "
                "a `probe`, or the `templates` of a sorting");
        samples = std::make_unique<raw_samples>(from, std::move(of), run.stop);
    }
    if (learns)
        return learning(
            std::make_unique<kept_samples>(std::move(samples),
                                           [probe = options.recording.probe](auto described) {
                                               return placed(std::move(described), probe);
                                           }),
            options, run);
    std::optional<interrupted_session> resumed;
    if (known.watermark_us) resumed = {.watermark_us = *known.watermark_us, .motion = known.motion};
    return sorting(std::move(samples), std::move(set), options, resumed);
}

bool is_named_source(const std::string& from) {
    for (const std::string_view scheme :
         {open_ephys_zmq, open_ephys_samples, open_ephys_events, spikeglx_prefix, own_stream,
          lsl_prefix, lsl_samples_prefix})
        if (from.starts_with(scheme)) return true;
    if (from.find("://") == std::string::npos) return false;
    throw invalid_argument(fmt::format(
        "'{}' is no source: expected {}HOST:5556, {}HOST:5556, {}HOST:5557, {}HOST:4142, "
        "{}ADDRESS:5600, {}NAME, {}NAME, a file or -",
        from, open_ephys_zmq, open_ephys_samples, open_ephys_events, spikeglx_prefix, own_stream,
        lsl_prefix, lsl_samples_prefix));
}

opened_source open_stream(const std::string& from, const live_options& options,
                          const session_so_far& known, const execution& run) {
    if (has_samples(from, options)) return open_sample_stream(from, options, known, run);
    const std::stop_token& stop = run.stop;
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

// A pipe sends what the options describe.
bool has_samples(const std::string& from, const live_options& options) {
    const recording_read_options& described = options.recording;
    for (const std::string_view scheme : {open_ephys_samples, spikeglx_prefix, lsl_samples_prefix})
        if (from.starts_with(scheme)) return true;
    const bool has_scheme = from.find("://") != std::string::npos || from.starts_with(lsl_prefix);
    const bool may_have = !has_scheme && (!options.templates.empty() || described.channels != 0 ||
                                          described.sample_rate != 0 ||
                                          (!is_stream(from) && is_recording(from, described)));
    if (may_have) return true;
    if (!options.templates.empty())
        throw invalid_argument("templates", fmt::format("{} sends spikes, no samples", from));
    if (described != recording_read_options{})
        throw invalid_argument(fmt::format(
            "'{}' has spikes: `channels`, `sample_rate`, `gain`, `header_bytes` and `probe` "
            "describe samples",
            from));
    return false;
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
    if (is_stream(from)) return open_stream(from, options, {units_of_armed(options)}, run);
    return has_samples(from, options) ? open_recording(from, options, {}, run)
                                      : open_file(from, options, run);
}

opened_source open_again(const std::string& from, const live_options& options,
                         const session_so_far& session, const execution& run) {
    if (is_stream(from)) return open_stream(from, options, session, run);
    return open_recording(from, options, session, run);
}

}  // namespace spikeweave::live
