#include "record/detect/detect.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "core/text.hpp"
#include "parallel/parallel_for.hpp"
#include "record/filter/block_reader.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::record {
namespace {

// The behaviour of one channel in one piece or in all.
struct channel_facts {
    std::int16_t least = std::numeric_limits<std::int16_t>::max();
    std::int16_t most = std::numeric_limits<std::int16_t>::min();
    std::size_t at_least = 0;  ///< frames in runs at `least`
    std::size_t at_most = 0;
    std::size_t steady = 0;  ///< frames in long runs of one value
    std::size_t wraps = 0;   ///< jumps of nearly 65,536
    std::size_t outer = 0;   ///< frames nearer to the ends of int16 than to 0
    std::uint64_t digest = 0xcbf29ce484222325U;

    void add_run(std::int16_t value, std::size_t length, std::size_t long_run);
    void add(const channel_facts& later);
};

struct piece_facts {
    std::vector<channel_facts> channels{};
    std::size_t frames = 0;
    std::size_t blanked = 0;  ///< frames in long runs during which no channel moves
};

constexpr std::size_t limit_run = 4;

void channel_facts::add_run(std::int16_t value, std::size_t length, std::size_t long_run) {
    if (length >= long_run) steady += length;
    channel_facts of{.least = value, .most = value};
    if (length >= limit_run) of.at_least = of.at_most = length;
    add(of);
}

void channel_facts::add(const channel_facts& later) {
    if (later.least < least) at_least = 0;
    if (later.least <= least) at_least += later.at_least;
    if (later.most > most) at_most = 0;
    if (later.most >= most) at_most += later.at_most;
    least = std::min(least, later.least);
    most = std::max(most, later.most);
    steady += later.steady;
    wraps += later.wraps;
    outer += later.outer;
    digest = (digest ^ later.digest) * 0x100000001b3U;
}

channel_facts facts_of(std::span<const std::int16_t> counts, std::size_t channels,
                       std::size_t channel, std::size_t long_run) {
    constexpr int nearly_all = 60000;
    constexpr int outer_count = 16384;
    channel_facts out;
    std::uint64_t digest = out.digest;
    std::size_t length = 0;
    for (std::size_t at = channel; at < counts.size(); at += channels) {
        digest = (digest ^ static_cast<std::uint16_t>(counts[at])) * 0x100000001b3U;
        ++length;
        if (std::abs(counts[at]) > outer_count) ++out.outer;
        const bool ends = at + channels >= counts.size();
        if (!ends && counts[at + channels] == counts[at]) continue;
        if (!ends && std::abs(counts[at + channels] - counts[at]) > nearly_all) ++out.wraps;
        out.add_run(counts[at], length, long_run);
        length = 0;
    }
    out.digest = digest;
    return out;
}

std::size_t blanked_frames(std::span<const std::int16_t> counts, std::size_t channels,
                           std::size_t long_run) {
    std::size_t blanked = 0;
    std::size_t length = 1;
    for (std::size_t at = channels; at <= counts.size(); at += channels) {
        const std::span<const std::int16_t> before = counts.subspan(at - channels, channels);
        if (at < counts.size() && std::ranges::equal(before, counts.subspan(at, channels))) {
            ++length;
            continue;
        }
        if (length >= long_run) blanked += length;
        length = 1;
    }
    return blanked;
}

piece_facts facts_of_block(const recording& from, std::size_t block) {
    const std::size_t channels = from.channel_count();
    const auto long_run = static_cast<std::size_t>(0.01 * from.rate_hz()) + 1;
    const std::uint64_t first = std::uint64_t{block} * standard_block_frames;
    piece_facts out;
    out.frames = static_cast<std::size_t>(
        std::min<std::uint64_t>(standard_block_frames, from.frame_count() - first));
    std::vector<std::int16_t> counts(out.frames * channels);
    from.read(first, counts);
    for (std::size_t c = 0; c < channels; ++c)
        out.channels.push_back(facts_of(counts, channels, c, long_run));
    out.blanked = blanked_frames(counts, channels, long_run);
    return out;
}

piece_facts facts_of_recording(const recording& from, const execution& run) {
    constexpr std::size_t most_blocks = 32;
    const auto blocks = static_cast<std::size_t>((from.frame_count() + standard_block_frames - 1) /
                                                 standard_block_frames);
    std::vector<piece_facts> pieces(std::min(blocks, most_blocks));
    parallel::parallel_for(pieces.size(), run, "samples", [&](std::size_t i) {
        pieces[i] = facts_of_block(from, i * blocks / pieces.size());
    });
    piece_facts out{.channels = std::vector<channel_facts>(from.channel_count())};
    for (const piece_facts& piece : pieces) {
        out.frames += piece.frames;
        out.blanked += piece.blanked;
        for (std::size_t c = 0; c < out.channels.size(); ++c)
            out.channels[c].add(piece.channels[c]);
    }
    return out;
}

void refuse_wraps(const recording& from, const piece_facts& facts) {
    constexpr double too_often = 0.01;
    const auto wrapped = std::ranges::count_if(facts.channels, [&](const channel_facts& of) {
        return 2 * of.outer > facts.frames &&
               static_cast<double>(of.wraps) > too_often * static_cast<double>(facts.frames);
    });
    if (2 * static_cast<std::size_t>(wrapped) <= facts.channels.size()) return;
    throw invalid_argument(fmt::format(
        "{}{}the samples of {} of {} channels jump between -32,768 and 32,767 again and again, as "
        "unsigned samples do that are read as signed ones; expected int16: convert them, in Python "
        "(numpy.fromfile(FILE, '<u2') ^ 0x8000).tofile(OTHER)",
        from.description().path.string(), from.description().path.empty() ? "" : ": ", wrapped,
        facts.channels.size()));
}

bool is_at_limit(const channel_facts& of, std::size_t frames) {
    constexpr double often = 0.0005;
    constexpr int wide = 200;
    return of.most - of.least > wide &&
           of.steady<frames&& static_cast<double>(std::max(of.at_least, of.at_most))> often *
               static_cast<double>(frames);
}

// Channels with the same samples as an earlier one, each with the first of them.
std::vector<std::pair<std::size_t, std::size_t>> copies_among(
    const std::vector<channel_facts>& channels) {
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    for (std::size_t c = 0; c < channels.size(); ++c)
        if (channels[c].least < channels[c].most) order.emplace_back(channels[c].digest, c);
    std::ranges::sort(order);
    std::vector<std::pair<std::size_t, std::size_t>> copies;
    std::size_t first = 0;
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (order[i].first != order[first].first)
            first = i;
        else
            copies.emplace_back(order[first].second, order[i].second);
    }
    return copies;
}

double percent(std::size_t part, std::size_t whole) {
    return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// Says which channels rest while others move, other than at their limit or all the time.
void warn_of_resting(const std::vector<recording_channel>& channels, const piece_facts& facts,
                     std::vector<std::string>& warnings) {
    constexpr double least_percent = 0.5;
    std::vector<std::string> resting;
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const channel_facts& of = facts.channels[c];
        if (of.steady >= facts.frames || is_at_limit(of, facts.frames)) continue;
        const double share = percent(of.steady - std::min(of.steady, facts.blanked), facts.frames);
        if (share >= least_percent)
            resting.push_back(fmt::format("{} ({:.2g} %)", channels[c].name, share));
    }
    if (!resting.empty())
        warnings.push_back(
            fmt::format("{} of {} channels do not change for a part of the time in which others "
                        "do, as if they were blanked: {}.",
                        resting.size(), channels.size(), core::listed(resting)));
}

}  // namespace

std::vector<std::string> sample_faults(const recording& from, const execution& run) {
    std::vector<std::string> warnings;
    if (from.frame_count() == 0) return warnings;
    const piece_facts facts = facts_of_recording(from, run);
    refuse_wraps(from, facts);
    const std::vector<recording_channel>& channels = from.channels();
    std::vector<std::string> limited;
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const channel_facts& of = facts.channels[c];
        if (!is_at_limit(of, facts.frames)) continue;
        limited.push_back(fmt::format("{} ({:.2g} % of the time)", channels[c].name,
                                      percent(std::max(of.at_least, of.at_most), facts.frames)));
    }
    if (!limited.empty())
        warnings.push_back(
            fmt::format("{} of {} channels stand at the limit of their range, where "
                        "spikes are lost or misshapen: {}.",
                        limited.size(), channels.size(), fmt::join(limited, ", ")));
    warn_of_resting(channels, facts, warnings);
    if (facts.blanked > 0 && facts.blanked < facts.frames)
        warnings.push_back(
            fmt::format("No channel changes during about {:.2g} % of the time, as if the amplifier "
                        "were blanked or data were lost: rates are too low by that.",
                        percent(facts.blanked, facts.frames)));
    std::vector<std::string> copies;
    for (const auto& [first, copy] : copies_among(facts.channels))
        copies.push_back(fmt::format("{} as {}", channels[copy].name, channels[first].name));
    if (!copies.empty())
        warnings.push_back(
            fmt::format("{} of {} channels have the same samples as another one: {}.",
                        copies.size(), channels.size(), fmt::join(copies, ", ")));
    return warnings;
}

}  // namespace spikeweave::record
