#include "sort/templates/matching.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sort/templates/filter_kernels.hpp"

namespace spikeweave::templates {
namespace {

constexpr int spread_bits = 16;

struct candidate {
    std::int64_t gain = 0;
    std::int32_t frame = 0;
    std::uint32_t unit = 0;

    // The better one comes first.
    friend bool operator<(const candidate& a, const candidate& b) {
        return std::tie(b.gain, a.frame, a.unit) < std::tie(a.gain, b.frame, b.unit);
    }
};

class pursuit {
public:
    pursuit(const match_plan& plan, const integer_block& block, std::size_t before,
            std::int64_t excluded)
        : plan_(plan),
          excluded_(excluded),
          frames_(static_cast<std::int32_t>(block.frames)),
          taken_(plan.filters.size()),
          raised_(plan.filters.size()),
          candidates_(plan.filters.size()) {
        for (const matched_filter& filter : plan.filters)
            scores_.push_back(correlations(block, filter, before));
        for (std::uint32_t unit = 0; unit < scores_.size(); ++unit)
            find_candidates(unit, 0, frames_ - 1);
    }

    std::vector<block_match> find() {
        constexpr int most_rounds = 200;
        for (int round = 0; round < most_rounds; ++round)
            if (!take_best()) break;
        std::sort(out_.begin(), out_.end(), [](const block_match& a, const block_match& b) {
            return std::tie(a.frame, a.unit) < std::tie(b.frame, b.unit);
        });
        return std::move(out_);
    }

private:
    std::int64_t gain_of(std::uint32_t unit, std::int64_t score) const {
        const std::int64_t norm = plan_.filters[unit].norm;
        const std::int64_t off = score - norm;
        return score * score - ((off * off * plan_.spread_weight[unit]) >> spread_bits);
    }
    bool is_allowed(std::uint32_t unit, std::int32_t frame, std::int32_t score) const;
    void find_candidates(std::uint32_t unit, std::int32_t first, std::int32_t last);
    bool take_best();
    void take(const candidate& best);

    const match_plan& plan_;
    std::int64_t excluded_;
    std::int32_t frames_;
    std::vector<std::vector<std::int32_t>> scores_{};
    std::vector<std::vector<std::int32_t>> taken_;
    // For each unit, spikes of others that overlap: frame, and the least score that is believed.
    std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> raised_;
    std::vector<std::vector<candidate>> candidates_;  // of each unit, ascending by frame
    std::vector<block_match> out_{};
};

bool pursuit::is_allowed(std::uint32_t unit, std::int32_t frame, std::int32_t score) const {
    for (const std::int32_t at : taken_[unit])
        if (std::abs(at - frame) < plan_.rule.apart_frames) return false;
    for (const auto& [at, least] : raised_[unit])
        if (std::abs(at - frame) < plan_.rule.apart_frames && score < least) return false;
    return true;
}

// Replaces the candidates of a unit where scores, or what is allowed, have changed.
void pursuit::find_candidates(std::uint32_t unit, std::int32_t first, std::int32_t last) {
    if (unit == excluded_) return;
    const std::vector<std::int32_t>& score = scores_[unit];
    const std::int32_t least = plan_.least[unit];
    const double most = plan_.rule.most_amplitude * plan_.filters[unit].norm;
    first = std::max(first - 1, 1);  // because neighbouring frames are compared
    last = std::min(last + 1, frames_ - 2);
    std::vector<candidate> found;
    for (std::int32_t f = first; f <= last; ++f) {
        const auto at = static_cast<std::size_t>(f);
        if (score[at] < least || score[at] <= score[at - 1] || score[at] < score[at + 1]) continue;
        if (score[at] > most || !is_allowed(unit, f, score[at])) continue;
        const std::int64_t gain = gain_of(unit, score[at]);
        if (gain > 0) found.push_back({gain, f, unit});
    }
    std::vector<candidate>& own = candidates_[unit];
    const auto begin = std::ranges::lower_bound(own, first, {}, &candidate::frame);
    const auto end = std::ranges::upper_bound(own, last, {}, &candidate::frame);
    own.insert(own.erase(begin, end), found.begin(), found.end());
}

// Takes all candidates that are better than every other one that they overlap.
bool pursuit::take_best() {
    std::vector<candidate> all;
    for (const std::vector<candidate>& own : candidates_)
        all.insert(all.end(), own.begin(), own.end());
    if (all.empty()) return false;
    std::sort(all.begin(), all.end());
    // The frames of better candidates, by unit whose scores a spike there would change.
    std::vector<std::vector<std::int32_t>> better(scores_.size());
    const auto reach = static_cast<std::int32_t>(plan_.overlaps.reach());
    std::vector<candidate> best;
    for (const candidate& each : all) {
        const bool is_best =
            std::none_of(better[each.unit].begin(), better[each.unit].end(),
                         [&](std::int32_t at) { return std::abs(at - each.frame) <= reach; });
        if (is_best) best.push_back(each);
        for (const overlap& row : plan_.overlaps.of(each.unit))
            better[row.other].push_back(each.frame);
    }
    for (const candidate& each : best) take(each);
    return true;
}

void pursuit::take(const candidate& best) {
    const std::vector<std::int32_t>& score = scores_[best.unit];
    const auto at = static_cast<std::size_t>(best.frame);
    const std::int64_t left = score[at - 1];
    const std::int64_t middle = score[at];
    const std::int64_t right = score[at + 1];
    // The vertex of a parabola, to the nearest part of a frame.
    const std::int64_t bend = 2 * (2 * middle - left - right);
    const std::int64_t tilt = (right - left) * parts_of_frame;
    std::int32_t part = 0;
    if (bend > 0)
        part = static_cast<std::int32_t>((2 * tilt + (tilt < 0 ? -bend : bend)) / (2 * bend));
    constexpr std::int32_t half = parts_of_frame / 2;
    part = std::clamp(part, -half, half);
    const std::int64_t peak = middle + (right - left) * part / (std::int64_t{4} * parts_of_frame);
    const auto size = static_cast<std::int32_t>(peak);
    out_.push_back({best.frame, best.unit, part, size});
    taken_[best.unit].push_back(best.frame);

    const std::int32_t begin = part < 0 ? best.frame - 1 : best.frame;
    const int shift = part < 0 ? part + parts_of_frame : part;
    const auto reach = static_cast<std::int32_t>(plan_.overlaps.reach());
    for (const overlap& row : plan_.overlaps.of(best.unit)) {
        const auto values = plan_.overlaps.values(row, shift);
        std::vector<std::int32_t>& into = scores_[row.other];
        const std::int32_t first = std::max(0, begin - reach);
        const std::int32_t last = std::min(frames_ - 1, begin + reach);
        for (std::int32_t f = first; f <= last; ++f) {
            const std::int32_t lag = f - begin + reach;
            const std::int64_t change = std::int64_t{size} * values[static_cast<std::size_t>(lag)];
            into[static_cast<std::size_t>(f)] -=
                static_cast<std::int32_t>((change + (1 << (overlap_bits - 1))) >> overlap_bits);
        }
        if (row.other != best.unit) {
            const std::int64_t left_over =
                ((std::int64_t{size} * row.largest >> overlap_bits) * plan_.misfit) >> overlap_bits;
            raised_[row.other].emplace_back(
                best.frame, plan_.least[row.other] + static_cast<std::int32_t>(left_over));
        }
        find_candidates(row.other, first, last);
    }
}

}  // namespace

match_plan::match_plan(std::vector<matched_filter> of, const match_rule& how, const execution& run)
    : filters(std::move(of)), overlaps(filters, run), rule(how) {
    for (const matched_filter& filter : filters) {
        const double noise = filter.noise;
        least.push_back(static_cast<std::int32_t>(
            std::ceil(std::max(rule.threshold * noise, rule.least_amplitude * filter.norm))));
        const double expected = rule.amplitude_spread * std::max(filter.norm, 1);
        spread_weight.push_back(
            std::llround((1 << spread_bits) * noise * noise / (expected * expected)));
    }
    misfit = static_cast<std::int32_t>(std::lround(rule.misfit * (1 << overlap_bits)));
}

std::vector<std::int32_t> correlations(const integer_block& block, const matched_filter& filter,
                                       std::size_t before) {
    std::vector<std::int32_t> out(block.frames);
    if (filter.ranks == 0 || block.frames < filter.frames) return out;
    const filter_kernels& kernels = runnable_filter_kernels().back();
    std::vector<const std::int16_t*> traces;
    for (const std::uint32_t channel : filter.channels) traces.push_back(block.on(channel).data());
    std::vector<std::int16_t> seen(filter.ranks * block.frames);
    std::vector<std::int16_t*> by_rank;
    for (std::size_t r = 0; r < filter.ranks; ++r) by_rank.push_back(&seen[r * block.frames]);
    kernels.project(traces, filter.spatial, block.frames, by_rank);

    std::vector<std::int32_t> sums(block.frames - filter.frames + 1, half_filter);
    for (std::size_t r = 0; r < filter.ranks; ++r)
        kernels.correlate({by_rank[r], block.frames}, filter.temporal_of(r), sums);
    for (std::size_t f = 0; f < sums.size(); ++f) out[before + f] = sums[f] >> filter_bits;
    return out;
}

std::vector<block_match> match_block(const match_plan& plan, const integer_block& block,
                                     std::size_t before, std::int64_t excluded) {
    return pursuit(plan, block, before, excluded).find();
}

}  // namespace spikeweave::templates
