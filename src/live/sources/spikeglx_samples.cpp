#include "live/sources/spikeglx_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "io/file_error.hpp"
#include "live/sources/sorted_samples.hpp"
#include "live/sources/stream_clock.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

// Of the rates of a file and of the run, which SpikeGLX measures for each probe.
constexpr double most_difference = 0.001;
// Frames that are fetched at once, of a backlog.
constexpr double most_fetched_s = 0.1;
// If nothing was asked for so long, another run may be on, with more frames than the last one had.
constexpr std::chrono::seconds longest_unwatched{1};
// If no frame has come for so long, another run may be on.
constexpr std::chrono::milliseconds until_checked{250};

std::optional<std::uint64_t> probe_of(const std::string& stream) {
    constexpr std::string_view prefix = "imec";
    if (stream.empty()) return {};
    std::uint64_t number = 0;
    const char* const end = stream.data() + stream.size();
    const auto [stopped, error] =
        std::from_chars(stream.data() + std::min(prefix.size(), stream.size()), end, number);
    if (!stream.starts_with(prefix) || error != std::errc{} || stopped != end)
        throw invalid_argument(
            "stream", fmt::format("{} is no stream of SpikeGLX that has samples of a probe: "
                                  "expected imec0, imec1, ...",
                                  io::shown(stream)));
    return number;
}

}  // namespace

spikeglx_samples::spikeglx_samples(const std::string& stream, recording_description of,
                                   double gain_uv, std::optional<std::int64_t> watermark_us)
    : named_(probe_of(stream)),
      of_(std::move(of)),
      gain_uv_(gain_uv),
      watermark_us_(watermark_us) {}

std::uint64_t spikeglx_samples::choose_probe(std::uint64_t count) const {
    if (named_ && *named_ < count) return *named_;
    if (!named_ && count == 1) return 0;
    if (count == 0) throw io_error("SpikeGLX runs without a probe of imec");
    throw io_error(named_ ? fmt::format("SpikeGLX has no probe imec{}: it has imec0 to imec{}",
                                        *named_, count - 1)
                          : fmt::format("SpikeGLX has {} probes: name one of them (`stream`), "
                                        "imec0 to imec{}",
                                        count, count - 1));
}

// Contacts of templates stay where these have them.
void spikeglx_samples::take_contacts(spikeglx_client& server,
                                     const std::vector<std::uint64_t>& channels) {
    constexpr double most_shift_um = 5;
    const std::vector<spikeglx_contact> places = server.contacts(probe_);
    if (!channels.empty() && channels.back() >= places.size())
        throw spikeglx_unreadable(
            fmt::format("SpikeGLX has the places of {} channels, expected channel {}, too",
                        places.size(), channels.back()));
    if (of_.channels.empty()) {
        for (const std::uint64_t number : channels) {
            const spikeglx_contact& at = places[number];
            of_.channels.push_back({.name = fmt::format("AP{}", number),
                                    .x_um = at.x_um,
                                    .y_um = at.y_um,
                                    .shank = at.shank});
        }
        of_.positions = position_source::file;
        return;
    }
    std::size_t moved = 0;
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const spikeglx_contact& at = places[channels[c]];
        const spikeglx_contact& first = places[channels[0]];
        const double x_um = at.x_um - first.x_um - (of_.channels[c].x_um - of_.channels[0].x_um);
        const double y_um = at.y_um - first.y_um - (of_.channels[c].y_um - of_.channels[0].y_um);
        of_.channels[c].name = fmt::format("AP{}", channels[c]);
        moved += static_cast<std::size_t>(std::hypot(x_um, y_um) > most_shift_um);
    }
    if (moved > 0)
        warnings_.push_back(
            fmt::format("{} of {} channels of SpikeGLX are at other places of the probe than those "
                        "of the templates: units are found only if the same contacts are read.",
                        moved, channels.size()));
}

void spikeglx_samples::describe(spikeglx_client& server) {
    probe_ = choose_probe(server.probe_count());
    const double rate_hz = server.rate_hz(probe_);
    if (of_.rate_hz == 0) of_.rate_hz = rate_hz;
    if (!(rate_hz >= 1) || std::abs(rate_hz - of_.rate_hz) > most_difference * of_.rate_hz)
        throw io_error(fmt::format("SpikeGLX has {} samples a second, expected {}, as {}", rate_hz,
                                   of_.rate_hz, is_described_ ? "before" : "the templates have"));
    std::vector<std::uint64_t> channels = server.saved_channels(probe_);
    const std::uint64_t of_spikes = server.spike_channels(probe_);
    std::erase_if(channels, [&](std::uint64_t number) { return number >= of_spikes; });
    if (channels.empty())
        throw io_error(
            "SpikeGLX saves no channel of the band of spikes (AP), so there is none to "
            "fetch");
    if (!of_.channels.empty() && channels.size() != of_.channels.size())
        throw io_error(fmt::format(
            "SpikeGLX saves {} channels of the band of spikes (AP), expected {}, as {}: choose the "
            "channels to save (Configure, Save) as for the file that was sorted",
            channels.size(), of_.channels.size(), is_described_ ? "before" : "the templates have"));
    std::string text;
    for (const std::uint64_t number : channels) text += fmt::format("{}#", number);
    if (!is_described_) {
        take_contacts(server, channels);
        of_.rate_hz = rate_hz;
        for (std::size_t c = 0; c < channels.size(); ++c)
            of_.channels[c].gain_uv = gain_uv_ > 0 ? gain_uv_ : server.gain_uv(probe_, channels[c]);
    } else if (text != channels_ ||
               (gain_uv_ == 0 && server.gain_uv(probe_, channels[0]) != of_.channels[0].gain_uv)) {
        throw io_error(
            "the new run of SpikeGLX has other channels, or another gain, than the one before: "
            "begin another session");
    }
    channels_ = std::move(text);
    if (!is_described_ && watermark_us_) next_ = first_frame_after(*watermark_us_, of_);
    is_described_ = true;
}

void spikeglx_samples::expect_other_run() {
    is_other_run_ = true;
    is_new_epoch_ = end_.has_value();
}

// Another run has fewer frames than this one had; or, if nobody looked, not as many as this one
// would have.
void spikeglx_samples::check_run(spikeglx_client& server, clock::time_point now) {
    const std::int64_t count = server.frame_count(probe_);
    const std::chrono::duration<double> since = now - counted_at_;
    const double expected = static_cast<double>(counted_) + since.count() * of_.rate_hz;
    const bool was_unwatched =
        now - answered_at_ > longest_unwatched && counted_at_ > clock::time_point{};
    const bool is_other =
        end_ && (count < *end_ || (was_unwatched && count > counted_ &&
                                   std::abs(static_cast<double>(count) - expected) > of_.rate_hz));
    if (is_other) expect_other_run();
    if (is_other_run_) {
        next_ = 0;
    } else if (!next_ || *next_ > count) {
        next_ = count;
    }
    is_other_run_ = false;
    counted_ = count;
    counted_at_ = answered_at_ = now;
}

void spikeglx_samples::begin_run(spikeglx_client& server, clock::time_point now) {
    is_running_ = server.is_running();
    if (!is_running_) return expect_other_run();
    try {
        describe(server);
    } catch (const spikeglx_refusal& refusal) {
        throw io_error(fmt::format(
            "SpikeGLX does not describe its probe: {}: is it older than release 20230425?",
            io::shown(refusal.what())));
    }
    check_run(server, now);
}

std::optional<sample_block> spikeglx_samples::unreadable(const std::string& why) {
    if (first_unreadable_.empty()) first_unreadable_ = why;
    if (std::exchange(is_refused_, true)) return {};
    return sample_block{.unreadable = 1};
}

std::optional<sample_block> spikeglx_samples::block_of(spikeglx_frames&& got) {
    const std::size_t channels = of_.channels.size();
    const auto frames = static_cast<std::int64_t>(got.counts.size() / channels);
    if (!is_new_epoch_ && end_ && got.first < *end_)
        return unreadable(
            fmt::format("frames from {} on, expected none before {}", got.first, *end_));
    is_refused_ = false;
    sample_block out{.first = got.first, .counts = std::move(got.counts)};
    const auto leap = static_cast<std::int64_t>(
        of_.rate_hz * static_cast<double>(stream_clock::longest_leap_us) / 1e6);
    out.begins_epoch = std::exchange(is_new_epoch_, false) || (end_ && out.first - *end_ > leap);
    if (end_ && !out.begins_epoch) out.missing = static_cast<std::uint64_t>(out.first - *end_);
    out.has_left_out = std::exchange(has_left_out_, false) && out.missing > 0;
    end_ = next_ = out.first + frames;
    return out;
}

std::optional<sample_block> spikeglx_samples::ask(spikeglx_client& server, clock::time_point now) {
    has_all_ = false;
    try {
        if (!is_running_) begin_run(server, now);
        if (!is_running_) {
            answered_at_ = now;
            return {};
        }
        if (now - std::max(answered_at_, counted_at_) > longest_unwatched ||
            now - counted_at_ > until_checked)
            check_run(server, now);
        const auto most = static_cast<std::uint64_t>(
            std::clamp(of_.rate_hz * most_fetched_s, 1.0,
                       static_cast<double>(spikeglx_client::most_frames_fetched)));
        spikeglx_frames got = server.fetch(probe_, *next_, most, channels_);
        answered_at_ = now;
        has_all_ = got.counts.size() < most * of_.channels.size();
        if (got.counts.empty()) return {};
        auto block = block_of(std::move(got));
        if (block && has_all_) {
            counted_ = *end_;
            counted_at_ = now;
        }
        return block;
    } catch (const spikeglx_refusal& refusal) {
        const std::string_view why = refusal.what();
        answered_at_ = now;
        if (why.find("Too late") != std::string_view::npos) {
            has_left_out_ = true;
            next_.reset();
            check_run(server, now);
            return {};
        }
        if (why.find("Not running") != std::string_view::npos) {
            is_running_ = false;
            expect_other_run();
            return {};
        }
        return unreadable(fmt::format("SpikeGLX refuses a command: {}", io::shown(why)));
    }
}

}  // namespace spikeweave::live
