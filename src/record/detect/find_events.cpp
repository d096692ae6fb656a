#include "record/detect/find_events.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "parallel/ordered_for.hpp"

namespace spikeweave::record {
namespace {

// Finds connected sets of crossings, which must be given in time order.
class event_finder {
public:
    explicit event_finder(const event_rule& rule)
        : strong_(rule.strong),
          sets_(rule.neighbours, rule.join_frames, rule.longest_frames,
                [this](const std::vector<channel_peak>& peaks) { take(peaks); }) {}

    // Adds crossings [begin, end) of a piece that begins at frame `first`.
    void add(std::int64_t first, const piece_crossings& from, std::size_t begin, std::size_t end) {
        const std::span<const crossing> all(from.crossings);
        for (std::size_t at = begin; at < end;) {
            std::size_t next = at + 1;
            while (next < end && from.frames[next] == from.frames[at]) ++next;
            sets_.add(first + from.frames[at], all.subspan(at, next - at));
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

// The result for one piece: the events that lie entirely within it, and the crossings at its ends
// that may be connected to other pieces.
struct piece_events {
    found_events inside{};
    piece_crossings ends{};
};

// After more than `join` frames without crossings, nothing can be joined to what came before. So
// everything between the first and the last such gap is independent of other pieces.
piece_events split(const piece_crossings& found, std::int64_t first, const event_rule& rule) {
    const std::size_t size = found.frames.size();
    const auto gap_before = [&](std::size_t i) {
        return found.frames[i] - found.frames[i - 1] > rule.join_frames;
    };
    std::size_t begin = 1;
    while (begin < size && !gap_before(begin)) ++begin;
    if (begin >= size) return {{}, found};
    std::size_t end = size - 1;
    while (!gap_before(end)) --end;

    event_finder inside(rule);
    inside.add(first, found, begin, end);
    piece_events out{inside.finished(), {}};
    const auto keep = [](const auto& from, auto& to, std::size_t a, std::size_t b) {
        std::copy(from.begin() + static_cast<std::ptrdiff_t>(a),
                  from.begin() + static_cast<std::ptrdiff_t>(b), std::back_inserter(to));
    };
    keep(found.frames, out.ends.frames, 0, begin);
    keep(found.frames, out.ends.frames, end, size);
    keep(found.crossings, out.ends.crossings, 0, begin);
    keep(found.crossings, out.ends.crossings, end, size);
    return out;
}

}  // namespace

found_events find_events(const trace_steps& steps, const event_rule& rule, const execution& run) {
    const auto first_of = [&](std::size_t piece) {
        return static_cast<std::int64_t>(piece * steps.piece_frames());
    };
    found_events out;
    event_finder across(rule);
    const auto take = [&out](const found_events& found) {
        for (event each : found.events) {
            each.first_height += out.heights.size();
            out.events.push_back(each);
        }
        out.heights.insert(out.heights.end(), found.heights.begin(), found.heights.end());
        out.cut += found.cut;
    };
    parallel::for_each_in_order(
        steps.piece_count(), run, "detecting",
        [&](std::size_t i) { return split(steps.crossings_of(i), first_of(i), rule); },
        [&](std::size_t i, const piece_events& found) {
            across.add(first_of(i), found.ends, 0, found.ends.frames.size());
            take(found.inside);
        });
    take(across.finished());
    std::sort(out.events.begin(), out.events.end(), [](const event& a, const event& b) {
        return std::pair{a.frame, a.channel} < std::pair{b.frame, b.channel};
    });
    return out;
}

}  // namespace spikeweave::record
