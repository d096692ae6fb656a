#include "spikeweave/record/sample_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <utility>

#include "core/text.hpp"
#include "parallel/parallel_for.hpp"
#include "record/detect/detect.hpp"
#include "record/filter/block_reader.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::record {
namespace {

constexpr std::size_t limit_run = 4;

// The run of a channel has ended.
void end_run(channel_facts& of, std::uint64_t long_run) {
    const std::uint64_t run = std::exchange(of.run, 0);
    if (run >= long_run) of.steady += run;
    const std::uint64_t limited = run >= limit_run ? run : 0;
    if (of.value <= of.least) {
        of.at_least = limited + (of.value < of.least ? 0 : of.at_least);
        of.least = of.value;
    }
    if (of.value >= of.most) {
        of.at_most = limited + (of.value > of.most ? 0 : of.at_most);
        of.most = of.value;
    }
}

sample_facts facts_of_recording(const recording& from, const execution& run) {
    constexpr std::size_t most_blocks = 32;
    const auto blocks = static_cast<std::size_t>((from.frame_count() + standard_block_frames - 1) /
                                                 standard_block_frames);
    std::vector<sample_facts> pieces(std::min(blocks, most_blocks),
                                     {from.channel_count(), from.rate_hz()});
    parallel::parallel_for(pieces.size(), run, "samples", [&](std::size_t i) {
        const std::uint64_t first =
            std::uint64_t{i * blocks / pieces.size()} * standard_block_frames;
        std::vector<std::int16_t> counts(
            std::min<std::uint64_t>(standard_block_frames, from.frame_count() - first) *
            from.channel_count());
        from.read(first, counts);
        pieces[i].take(counts);
        pieces[i].end_piece();
    });
    sample_facts out(from.channel_count(), from.rate_hz());
    for (const sample_facts& piece : pieces) out.add(piece);
    return out;
}

void refuse_wraps(const recording& from, const sample_facts& facts) {
    constexpr double too_often = 0.01;
    const auto wrapped = std::ranges::count_if(facts.channels(), [&](const channel_facts& of) {
        return 2 * of.outer > facts.frames() &&
               static_cast<double>(of.wraps) > too_often * static_cast<double>(facts.frames());
    });
    if (2 * static_cast<std::size_t>(wrapped) <= facts.channels().size()) return;
    throw invalid_argument(fmt::format(
        "{}{}the samples of {} of {} channels jump between -32,768 and 32,767 again and again, as "
        "unsigned samples do that are read as signed ones; expected int16: convert them, in Python "
        "(numpy.fromfile(FILE, '<u2') ^ 0x8000).tofile(OTHER)",
        from.description().path.string(), from.description().path.empty() ? "" : ": ", wrapped,
        facts.channels().size()));
}

bool is_at_limit(const channel_facts& of, std::uint64_t frames) {
    constexpr double often = 0.0005;
    constexpr int wide = 200;
    const auto limited = static_cast<double>(of.at_limit());
    return of.most - of.least > wide && of.steady < frames &&
           limited > often * static_cast<double>(frames);
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

double percent(std::uint64_t part, std::uint64_t whole) {
    return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// Says which channels rest while others move, other than at their limit or all the time.
std::string warning_of_resting(const sample_facts& facts, std::uint64_t blanked,
                               const std::vector<recording_channel>& channels) {
    constexpr double least_percent = 0.5;
    std::vector<std::string> resting;
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const channel_facts& of = facts.channels()[c];
        if (of.steady >= facts.frames() || is_at_limit(of, facts.frames())) continue;
        const double share = percent(of.steady - std::min(of.steady, blanked), facts.frames());
        if (share >= least_percent)
            resting.push_back(fmt::format("{} ({:.2g} %)", channels[c].name, share));
    }
    if (resting.empty()) return {};
    return fmt::format(
        "{} of {} channels do not change for a part of the time in which others do, "
        "as if they were blanked: {}.",
        resting.size(), channels.size(), core::listed(resting));
}

}  // namespace
}  // namespace spikeweave::record

namespace spikeweave {

sample_facts::sample_facts(std::size_t channels, double rate_hz)
    : long_run_(static_cast<std::uint64_t>(0.01 * rate_hz) + 1), channels_(channels) {}

void sample_facts::take(std::span<const std::int16_t> counts) {
    constexpr int nearly_all = 60000;
    constexpr int outer_count = 16384;
    for (std::size_t at = 0; at < counts.size(); at += channels_.size()) {
        bool moves = still_ == 0;
        for (std::size_t c = 0; c < channels_.size(); ++c) {
            channel_facts& of = channels_[c];
            const std::int16_t value = counts[at + c];
            of.digest = (of.digest ^ static_cast<std::uint16_t>(value)) * 0x100000001b3U;
            of.outer += std::abs(value) > outer_count ? 1U : 0U;
            if (of.run > 0 && value == of.value) {
                ++of.run;
                continue;
            }
            moves = true;
            if (of.run > 0) {
                of.wraps += std::abs(value - of.value) > nearly_all ? 1U : 0U;
                record::end_run(of, long_run_);
            }
            of.value = value;
            of.run = 1;
        }
        if (moves && still_ >= long_run_) blanked_ += still_;
        still_ = moves ? 1 : still_ + 1;
    }
    frames_ += counts.size() / channels_.size();
}

void sample_facts::end_piece() {
    const std::uint64_t still = std::exchange(still_, 0);
    if (still == 0) return;
    if (still >= long_run_) blanked_ += still;
    for (channel_facts& of : channels_) record::end_run(of, long_run_);
}

void sample_facts::add(const sample_facts& later) {
    for (std::size_t c = 0; c < channels_.size(); ++c) {
        channel_facts& of = channels_[c];
        const channel_facts& more = later.channels_[c];
        if (more.least < of.least) of.at_least = 0;
        if (more.least <= of.least) of.at_least += more.at_least;
        if (more.most > of.most) of.at_most = 0;
        if (more.most >= of.most) of.at_most += more.at_most;
        of.least = std::min(of.least, more.least);
        of.most = std::max(of.most, more.most);
        of.steady += more.steady;
        of.wraps += more.wraps;
        of.outer += more.outer;
        of.digest = (of.digest ^ more.digest) * 0x100000001b3U;
    }
    frames_ += later.frames_;
    blanked_ += later.blanked_;
}

std::vector<std::string> sample_facts::warnings(const std::vector<recording_channel>& of) const {
    std::vector<std::string> out;
    std::vector<std::string> limited;
    for (std::size_t c = 0; c < of.size(); ++c)
        if (record::is_at_limit(channels_[c], frames_))
            limited.push_back(fmt::format("{} ({:.2g} % of the time)", of[c].name,
                                          record::percent(channels_[c].at_limit(), frames_)));
    if (!limited.empty())
        out.push_back(
            fmt::format("{} of {} channels stand at the limit of their range, where "
                        "spikes are lost or misshapen: {}.",
                        limited.size(), of.size(), fmt::join(limited, ", ")));
    if (std::string resting = record::warning_of_resting(*this, blanked_, of); !resting.empty())
        out.push_back(std::move(resting));
    if (blanked_ > 0 && blanked_ < frames_)
        out.push_back(
            fmt::format("No channel changes during about {:.2g} % of the time, as if the amplifier "
                        "were blanked or data were lost: rates are too low by that.",
                        record::percent(blanked_, frames_)));
    std::vector<std::string> copies;
    for (const auto& [first, copy] : record::copies_among(channels_))
        copies.push_back(fmt::format("{} as {}", of[copy].name, of[first].name));
    if (!copies.empty())
        out.push_back(fmt::format("{} of {} channels have the same samples as another one: {}.",
                                  copies.size(), of.size(), fmt::join(copies, ", ")));
    return out;
}

std::vector<std::string> sample_facts::all_warnings(
    const std::vector<recording_channel>& of) const {
    std::vector<std::string> out = warnings(of);
    std::vector<std::string> constant;
    for (std::size_t c = 0; c < of.size(); ++c)
        if (frames_ >= long_run_ && channels_[c].steady == frames_) constant.push_back(of[c].name);
    if (!constant.empty())
        out.push_back(
            fmt::format("{} of {} channels never change, as if they were not connected: "
                        "{}.",
                        constant.size(), of.size(), fmt::join(constant, ", ")));
    return out;
}

std::vector<std::string> record::sample_faults(const recording& from, const execution& run) {
    if (from.frame_count() == 0) return {};
    const sample_facts facts = facts_of_recording(from, run);
    refuse_wraps(from, facts);
    return facts.warnings(from.channels());
}

}  // namespace spikeweave
