#include "record/detect/find_events.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "parallel/ordered_for.hpp"
#include "parallel/ranks.hpp"
#include "record/detect/trace_steps.hpp"
#include "record/detect/waveforms.hpp"

namespace spikeweave::record {

crossing_rule crossings_by(const filtered_recording& traces, const detection_options& options) {
    crossing_rule rule{.above = static_cast<float>(options.weak_threshold),
                       .both = options.sign == spike_sign::both};
    const float towards = options.sign == spike_sign::negative ? -1.0F : 1.0F;
    rule.by_noise.reserve(traces.noise().size());
    for (const double sd : traces.noise())
        rule.by_noise.push_back(sd > 0 ? towards / static_cast<float>(sd) : 0.0F);
    return rule;
}

feature_basis feature_space_of(const filtered_recording& traces, const detection_options& options) {
    const waveform_window window = window_of(options, traces.source().rate_hz());
    const recording& from = traces.source();
    feature_basis space{.rate_hz = from.rate_hz(),
                        .low_hz = options.preprocessing.low_corner,
                        .high_hz = options.preprocessing.high_corner,
                        .order = options.preprocessing.filter_order,
                        .reference = traces.reference(),
                        .whiten = options.preprocessing.whiten,
                        .frames_before = static_cast<std::uint32_t>(window.before),
                        .frames_after = static_cast<std::uint32_t>(window.after),
                        .features_per_channel = options.features_per_channel};
    for (const recording_channel& channel : from.channels())
        space.contacts.push_back({channel.x_um, channel.y_um, channel.shank});
    return space;
}

namespace {

// Finds connected sets of crossings, which must be given in time order.
class event_finder {
public:
    explicit event_finder(const event_rule& rule)
        : strong_(rule.strong),
          sets_(rule.neighbours, rule.join_frames, rule.longest_frames,
                [this](const std::vector<channel_peak>& peaks) { take(peaks); }) {}

    // Frames are counted from `first` on.
    template <class Frame>
    void add(std::int64_t first, std::span<const Frame> frames, std::span<const crossing> all) {
        for (std::size_t at = 0; at < frames.size();) {
            std::size_t next = at + 1;
            while (next < frames.size() && frames[next] == frames[at]) ++next;
            sets_.add(first + static_cast<std::int64_t>(frames[at]), all.subspan(at, next - at));
            at = next;
        }
    }

    found_events finished() {
        sets_.finish();
        found_.cut = sets_.cut();
        return std::move(found_);
    }

private:
    void take(const std::vector<channel_peak>& peaks) {
        const auto highest = std::max_element(
            peaks.begin(), peaks.end(), [](const channel_peak& a, const channel_peak& b) {
                // Of equal heights, the earlier frame wins, then the lower channel.
                return std::tuple{a.height, -a.frame, -static_cast<std::int64_t>(a.channel)} <
                       std::tuple{b.height, -b.frame, -static_cast<std::int64_t>(b.channel)};
            });
        if (!(highest->height > strong_)) return;
        found_.events.push_back({highest->frame, highest->channel,
                                 static_cast<std::uint32_t>(peaks.size()), found_.heights.size()});
        for (const channel_peak& peak : peaks)
            found_.heights.push_back({peak.channel, peak.height});
    }

    float strong_;
    found_events found_;
    flood_fill sets_;
};

// The connected sets of the crossings of a piece, however long they last.
class connected_sets {
public:
    connected_sets(const piece_crossings& of, const event_rule& rule) : parents_(of.frames.size()) {
        constexpr std::uint32_t none = UINT32_MAX;
        std::iota(parents_.begin(), parents_.end(), 0U);
        std::vector<std::uint32_t> last(rule.neighbours.size(), none);
        for (std::uint32_t i = 0; i < parents_.size(); ++i) {
            const std::uint32_t channel = of.crossings[i].channel;
            const auto join = [&](std::uint32_t on) {
                if (last[on] != none && of.frames[i] - of.frames[last[on]] <= rule.join_frames)
                    parents_[set_of(last[on])] = set_of(i);
            };
            join(channel);
            for (const std::uint32_t other : rule.neighbours[channel]) join(other);
            last[channel] = i;
        }
    }

    std::uint32_t set_of(std::uint32_t crossing) {
        while (parents_[crossing] != crossing)
            crossing = parents_[crossing] = parents_[parents_[crossing]];
        return crossing;
    }

private:
    std::vector<std::uint32_t> parents_;
};

// Crossings with frames of the recording.
struct placed_crossings {
    std::vector<std::int64_t> frames{};
    std::vector<crossing> crossings{};
};

// The result for one piece: the events that lie entirely within it, and the crossings of sets that
// reach its ends and may continue in other pieces.
struct piece_events {
    found_events inside{};
    placed_crossings ends{};
};

piece_events split(const piece_crossings& found, std::int64_t first, std::size_t length,
                   const event_rule& rule) {
    connected_sets sets(found, rule);
    const std::uint64_t join = rule.join_frames;
    const auto size = static_cast<std::uint32_t>(found.frames.size());
    std::vector<char> reaches_end(size, 0);
    for (std::uint32_t i = 0; i < size; ++i)
        if (found.frames[i] < join || found.frames[i] + join >= length)
            reaches_end[sets.set_of(i)] = 1;
    piece_events out;
    piece_crossings within;
    for (std::uint32_t i = 0; i < size; ++i) {
        const bool is_within = reaches_end[sets.set_of(i)] == 0;
        (is_within ? within.crossings : out.ends.crossings).push_back(found.crossings[i]);
        if (is_within)
            within.frames.push_back(found.frames[i]);
        else
            out.ends.frames.push_back(first + found.frames[i]);
    }
    event_finder inside(rule);
    inside.add<std::uint32_t>(first, within.frames, within.crossings);
    out.inside = inside.finished();
    return out;
}

void append(const found_events& found, found_events& to) {
    for (event each : found.events) {
        each.first_height += to.heights.size();
        to.events.push_back(each);
    }
    to.heights.insert(to.heights.end(), found.heights.begin(), found.heights.end());
    to.cut += found.cut;
}

void join_events_of_ranks(found_events& found, const execution& run) {
    parallel::join_ranks(found.events, run);
    parallel::join_ranks(found.heights, run);
    auto cut = static_cast<std::int64_t>(found.cut);
    parallel::sum_ranks({&cut, 1}, run);
    found.cut = static_cast<std::size_t>(cut);
    std::size_t at = 0;
    for (event& each : found.events) {
        each.first_height = at;
        at += each.channel_count;
    }
}

}  // namespace

found_events find_events(const trace_steps& steps, const event_rule& rule, const execution& run) {
    const parallel::rank_block own = parallel::block_of_rank(steps.piece_count(), run);
    const bool is_shared = parallel::is_shared(run);
    found_events out;
    placed_crossings ends;  // of this rank, then of all
    event_finder across(rule);
    parallel::for_each_in_order(
        own.size(), run, "detecting",
        [&](std::size_t i) {
            const std::size_t length = steps.piece_frames();
            const auto first = static_cast<std::int64_t>((own.begin + i) * length);
            return split(steps.crossings_of(own.begin + i), first, length, rule);
        },
        [&](std::size_t, const piece_events& found) {
            append(found.inside, out);
            const auto& [frames, crossings] = found.ends;
            if (!is_shared) return across.add<std::int64_t>(0, frames, crossings);
            ends.frames.insert(ends.frames.end(), frames.begin(), frames.end());
            ends.crossings.insert(ends.crossings.end(), crossings.begin(), crossings.end());
        });
    join_events_of_ranks(out, run);
    parallel::join_ranks(ends.frames, run);
    parallel::join_ranks(ends.crossings, run);
    across.add<std::int64_t>(0, ends.frames, ends.crossings);
    append(across.finished(), out);
    std::sort(out.events.begin(), out.events.end(), [](const event& a, const event& b) {
        return std::pair{a.frame, a.channel} < std::pair{b.frame, b.channel};
    });
    return out;
}

}  // namespace spikeweave::record
