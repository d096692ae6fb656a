#include "sort/templates/matching.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "sort/templates/filter_kernels.hpp"

namespace spikeweave::templates {
namespace {

constexpr int spread_bits = 16;
constexpr std::int32_t whole = 1 << overlap_bits;
constexpr double least_threshold = 4;
// Where the spikes beside it explain more of a spike than the rest to 36 %, its size in a joint fit
// would be mostly noise.
constexpr std::int32_t least_rest = whole * 9 / 25;
constexpr std::size_t most_changes = 12;  // neurons that fire within 2 ms and overlap

struct candidate {
    std::int64_t gain = 0;
    std::int32_t frame = 0;
    std::uint32_t unit = 0;

    // The better one is first.
    friend bool operator<(const candidate& a, const candidate& b) {
        return std::tie(b.gain, a.frame, a.unit) < std::tie(a.gain, b.frame, b.unit);
    }
};

// A spike that was taken and changes the scores of another unit.
struct neighbour {
    const overlap* row = nullptr;
    std::size_t match = 0;
    std::int32_t misfit = 0;  // share of its spike that may be left
};

// The threshold of a template, in standard deviations of its score's noise: where a spike becomes
// likelier than noise, if that is below the threshold for all.
double threshold_of(const matched_filter& filter, const match_rule& rule) {
    if (rule.spike_share <= 0 || filter.norm <= 0) return rule.threshold;
    const double size = static_cast<double>(filter.norm) / filter.noise;
    const double likelier = size / 2 - std::log(rule.spike_share) / size;
    return std::min(rule.threshold, std::max(least_threshold, likelier));
}

// A spike and what it changes of those taken before that overlap it.
struct joint_fit {
    struct change {
        std::size_t match = 0;
        std::int64_t correlation = 0;
        std::int64_t size = 0;  // that it takes from this spike
    };
    std::int64_t rest = whole;  // share of its energy that the others cannot explain
    std::vector<change> changes{};
};

std::int32_t begin_of(const block_match& one) {
    return one.part < 0 ? one.frame - 1 : one.frame;
}

int shift_of(const block_match& one) {
    return one.part < 0 ? one.part + parts_of_frame : one.part;
}

class pursuit {
public:
    pursuit(const match_plan& plan, score_table scores, const match_limits& limits)
        : plan_(plan),
          excluded_(limits.excluded),
          known_(limits.known.size()),
          first_(limits.first),
          frames_(static_cast<std::int32_t>(scores.frames)),
          reach_(static_cast<std::int32_t>(plan.overlaps.reach())),
          scores_(std::move(scores)),
          taken_(plan.filters.size()),
          near_(plan.filters.size()),
          candidates_(plan.filters.size()) {
        for (const block_match& match : limits.known) {
            add(match);
            change_scores(match, match.size);
        }
        for (std::uint32_t unit = 0; unit < plan.filters.size(); ++unit)
            find_candidates(unit, 0, frames_ - 1);
    }

    block_matches find() {
        constexpr int most_rounds = 200;
        for (int round = 0; round < most_rounds; ++round)
            if (!take_best()) break;
        for (std::size_t n = 0; n < known_; ++n) out_[n].size = 0;
        std::erase_if(out_, [](const block_match& one) { return one.size == 0; });
        std::sort(out_.begin(), out_.end(), [](const block_match& a, const block_match& b) {
            return std::tie(a.frame, a.unit) < std::tie(b.frame, b.unit);
        });
        left_over_table left = measure_left_over();
        return {std::move(out_), std::move(left)};
    }

private:
    std::int32_t correlation_with(const neighbour& one, std::int32_t frame) const;
    std::int32_t correlation_of(const block_match& one, const block_match& other) const;
    joint_fit fit_at(std::uint32_t unit, std::int32_t frame) const;
    void set_size(std::int64_t size, joint_fit& fit) const;
    std::int64_t energy_of(std::int64_t score, std::int64_t size, const joint_fit& fit) const;
    std::int32_t least_of(std::uint32_t unit, std::int32_t frame, std::int64_t rest) const;
    bool fires_near(std::uint32_t unit, std::int32_t frame) const;
    std::optional<std::int64_t> gain_of(std::uint32_t unit, std::int32_t frame) const;
    void find_candidates(std::uint32_t unit, std::int32_t first, std::int32_t last);
    bool take_best();
    void take(const candidate& best);
    void take_from_neighbours(const joint_fit& fit);
    void add(const block_match& match);
    void change_scores(const block_match& match, std::int32_t size);
    void subtract(const block_match& match, std::int32_t size);
    left_over_table measure_left_over() const;
    void measure(const block_match& match, const overlap& row, left_over& into) const;

    const match_plan& plan_;
    std::span<const char> excluded_;
    std::size_t known_;  // the first of `out_`, which stay as they are
    std::int32_t first_;
    std::int32_t frames_;
    std::int32_t reach_;
    score_table scores_;
    std::vector<std::vector<std::int32_t>> taken_;    // frames of each unit's spikes
    std::vector<std::vector<neighbour>> near_;        // of each unit
    std::vector<std::vector<candidate>> candidates_;  // of each unit, ascending by frame
    std::vector<block_match> out_{};  // of size 0 where another spike turned out to explain it
};

// The correlation of the filter at a frame with the neighbour's spike of size 1.
std::int32_t pursuit::correlation_with(const neighbour& one, std::int32_t frame) const {
    const block_match& match = out_[one.match];
    const std::int32_t lag = frame - begin_of(match);
    if (std::abs(lag) > reach_) return 0;
    const auto values = plan_.overlaps.values(*one.row, shift_of(match));
    return *(values.begin() + reach_ + lag);
}

// The correlation of two spikes that were taken.
std::int32_t pursuit::correlation_of(const block_match& one, const block_match& other) const {
    const std::int32_t lag = other.frame - begin_of(one);
    const std::span<const overlap> rows = plan_.overlaps.of(one.unit);
    const auto row = std::ranges::lower_bound(rows, other.unit, {}, &overlap::other);
    if (std::abs(lag) > reach_ || row == rows.end() || row->other != other.unit) return 0;
    const auto values = plan_.overlaps.values(*row, shift_of(one));
    return *(values.begin() + reach_ + lag);
}

// A spike of size 1 takes from each of those that overlap it its correlation with them: the rest is
// the energy of what this changes.
joint_fit pursuit::fit_at(std::uint32_t unit, std::int32_t frame) const {
    joint_fit out;
    if (!plan_.rule.fit_together) return out;
    for (const neighbour& one : near_[unit]) {
        const block_match& match = out_[one.match];
        if (one.match < known_ || match.size == 0 ||
            std::abs(match.frame - frame) >= 2 * plan_.rule.apart_frames)
            continue;
        const std::int64_t correlation = correlation_with(one, frame);
        if (correlation == 0) continue;
        out.rest -= (correlation * correlation) >> overlap_bits;
        for (const joint_fit::change& each : out.changes)
            out.rest += (2 * (correlation * each.correlation >> overlap_bits) *
                         correlation_of(match, out_[each.match])) >>
                        overlap_bits;
        out.changes.push_back({.match = one.match, .correlation = correlation});
        if (out.changes.size() > most_changes) return {};
    }
    return out.rest < least_rest ? joint_fit{} : out;
}

// If too little of a spike remains, it is removed as a whole.
void pursuit::set_size(std::int64_t size, joint_fit& fit) const {
    for (joint_fit::change& each : fit.changes) {
        const block_match& match = out_[each.match];
        each.size = (size * each.correlation) >> overlap_bits;
        if (match.size - each.size < plan_.sizes[match.unit].least) each.size = match.size;
    }
}

// By how much less energy is left of the traces, if nothing was left at the other spikes.
std::int64_t pursuit::energy_of(std::int64_t score, std::int64_t size, const joint_fit& fit) const {
    std::int64_t out = 2 * score * size - size * size;
    for (auto one = fit.changes.begin(); one != fit.changes.end(); ++one) {
        const block_match& match = out_[one->match];
        std::int64_t overlapping = -size * one->correlation;
        for (auto other = fit.changes.begin(); other != one; ++other)
            overlapping += other->size * correlation_of(match, out_[other->match]);
        out -= one->size * (one->size + (2 * overlapping >> overlap_bits));
    }
    return out;
}

// The least score that is believed, beside what the templates of neighbours may leave.
std::int32_t pursuit::least_of(std::uint32_t unit, std::int32_t frame, std::int64_t rest) const {
    constexpr std::int32_t around = 2;
    std::int32_t left_over = 0;
    for (const neighbour& one : near_[unit]) {
        const block_match& match = out_[one.match];
        if (std::abs(match.frame - frame) >= plan_.rule.apart_frames) continue;
        std::int32_t overlapping = plan_.rule.fit_together ? 0 : one.row->largest;
        for (std::int32_t lag = -around; plan_.rule.fit_together && lag <= around; ++lag)
            overlapping = std::max(overlapping, std::abs(correlation_with(one, frame + lag)));
        const std::int64_t seen = std::int64_t{match.size} * overlapping >> overlap_bits;
        left_over =
            std::max(left_over, static_cast<std::int32_t>((seen * one.misfit) >> overlap_bits));
    }
    // The noise of a size in a joint fit is that of the score over the root of the rest.
    const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(rest) * whole));
    return left_over +
           static_cast<std::int32_t>(std::max(plan_.least_score[unit] * root,
                                              std::int64_t{plan_.sizes[unit].least} * rest) >>
                                     overlap_bits);
}

bool pursuit::fires_near(std::uint32_t unit, std::int32_t frame) const {
    return std::ranges::any_of(taken_[unit], [&](std::int32_t at) {
        return std::abs(at - frame) < plan_.rule.apart_frames;
    });
}

// The energy that a spike would explain, less the cost of an unusual amplitude; nothing where no
// spike is believed.
std::optional<std::int64_t> pursuit::gain_of(std::uint32_t unit, std::int32_t frame) const {
    if (fires_near(unit, frame)) return std::nullopt;
    const std::int64_t score = scores_.of(unit)[static_cast<std::size_t>(frame)];
    joint_fit fit = fit_at(unit, frame);
    if (score < least_of(unit, frame, fit.rest)) return std::nullopt;
    const std::int64_t size = (score << overlap_bits) / fit.rest;
    const match_sizes& sizes = plan_.sizes[unit];
    if (size > sizes.most) return std::nullopt;
    const std::int64_t off = size - sizes.usual;
    const std::int64_t weight = off < 0 ? sizes.weight_below : sizes.weight_above;
    set_size(size, fit);
    if (energy_of(score, size, fit) <= 0) return std::nullopt;
    const std::int64_t gain = score * size - ((off * off * weight) >> spread_bits);
    return gain > 0 ? std::optional(gain) : std::nullopt;
}

// Replaces the candidates of a unit where scores, or what is believed, have changed.
void pursuit::find_candidates(std::uint32_t unit, std::int32_t first, std::int32_t last) {
    if (!excluded_.empty() && excluded_[unit] != 0) return;
    const std::span<const std::int32_t> score = std::as_const(scores_).of(unit);
    const std::int32_t rest = plan_.rule.fit_together ? least_rest : whole;
    const auto least = static_cast<std::int32_t>(
        std::int64_t{std::max(plan_.least_score[unit], plan_.sizes[unit].least)} * rest >>
        overlap_bits);
    first = std::max(first - 1, first_);  // because neighbouring frames are compared
    last = std::min(last + 1, frames_ - 2);
    std::vector<candidate> found;
    for (std::int32_t f = first; f <= last; ++f) {
        const auto at = static_cast<std::size_t>(f);
        if (score[at] < least || score[at] <= score[at - 1] || score[at] < score[at + 1]) continue;
        if (const auto gain = gain_of(unit, f)) found.push_back({*gain, f, unit});
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
    std::sort(all.begin(), all.end());
    // The frames of better candidates, by unit whose scores a spike there would change.
    std::vector<std::vector<std::int32_t>> better(candidates_.size());
    std::vector<candidate> best;
    for (const candidate& each : all) {
        const bool is_best =
            std::none_of(better[each.unit].begin(), better[each.unit].end(),
                         [&](std::int32_t at) { return std::abs(at - each.frame) <= reach_; });
        if (is_best) best.push_back(each);
        for (const overlap& row : plan_.overlaps.of(each.unit))
            better[row.other].push_back(each.frame);
    }
    bool any = false;
    for (const candidate& each : best) {
        // Spikes taken in this round may have returned a part of their neighbours.
        if (!gain_of(each.unit, each.frame)) continue;
        take(each);
        any = true;
    }
    return any;
}

void pursuit::take(const candidate& best) {
    const std::span<const std::int32_t> score = std::as_const(scores_).of(best.unit);
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
    joint_fit fit = fit_at(best.unit, best.frame);
    const auto size = static_cast<std::int32_t>((peak << overlap_bits) / fit.rest);
    set_size(size, fit);
    take_from_neighbours(fit);
    const block_match match{best.frame, best.unit, part, size};
    add(match);
    subtract(match, size);
}

void pursuit::add(const block_match& match) {
    out_.push_back(match);
    taken_[match.unit].push_back(match.frame);
    const std::span<const overlap> rows = plan_.overlaps.of(match.unit);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        if (rows[r].other == match.unit) continue;
        near_[rows[r].other].push_back({&rows[r], out_.size() - 1, plan_.misfits[match.unit][r]});
    }
}

// Gives back what neighbours had of a spike. If nothing of one remains, it is not a spike, and its
// unit is not tried there again: two templates could take the same traces in turn for ever.
void pursuit::take_from_neighbours(const joint_fit& fit) {
    for (const joint_fit::change& each : fit.changes) {
        block_match& match = out_[each.match];
        match.size -= static_cast<std::int32_t>(each.size);
        if (each.size != 0) subtract(match, static_cast<std::int32_t>(-each.size));
    }
}

// Takes a spike's template out of the scores, `size` times.
void pursuit::change_scores(const block_match& match, std::int32_t size) {
    const std::int32_t begin = begin_of(match);
    for (const overlap& row : plan_.overlaps.of(match.unit)) {
        const auto values = plan_.overlaps.values(row, shift_of(match));
        const std::span<std::int32_t> into = scores_.of(row.other);
        const std::int32_t first = std::max(0, begin - reach_);
        const std::int32_t last = std::min(frames_ - 1, begin + reach_);
        for (std::int32_t f = first; f <= last; ++f) {
            const std::int32_t lag = f - begin + reach_;
            const std::int64_t change = std::int64_t{size} * values[static_cast<std::size_t>(lag)];
            into[static_cast<std::size_t>(f)] -=
                static_cast<std::int32_t>((change + (1 << (overlap_bits - 1))) >> overlap_bits);
        }
    }
}

void pursuit::subtract(const block_match& match, std::int32_t size) {
    change_scores(match, size);
    const std::int32_t begin = begin_of(match);
    for (const overlap& row : plan_.overlaps.of(match.unit))
        find_candidates(row.other, std::max(0, begin - reach_),
                        std::min(frames_ - 1, begin + reach_));
}

left_over_table pursuit::measure_left_over() const {
    left_over_table out = nothing_left_over(plan_);
    if (!plan_.rule.measures_left_over) return out;
    for (const block_match& match : out_) {
        const std::span<const overlap> rows = plan_.overlaps.of(match.unit);
        for (std::size_t r = 0; r < rows.size(); ++r)
            if (rows[r].other != match.unit) measure(match, rows[r], out[match.unit][r]);
    }
    return out;
}

void pursuit::measure(const block_match& match, const overlap& row, left_over& into) const {
    const std::int32_t frame = match.frame + row.largest_lag;
    if (std::abs(row.largest_lag) >= plan_.rule.apart_frames || frame < 0 || frame >= frames_)
        return;
    if (fires_near(row.other, frame)) return;
    // A spike that was missed there counts no more than this.
    constexpr std::int64_t most_noise = 10;
    const std::int64_t most = most_noise * plan_.filters[row.other].noise;
    const std::int64_t score = std::clamp(
        std::int64_t{scores_.of(row.other)[static_cast<std::size_t>(frame)]}, -most, most);
    into.add({.count = 1, .sizes = match.size, .squares = score * score});
}

}  // namespace

match_plan::match_plan(std::vector<matched_filter> of, const match_rule& how, const execution& run)
    : filters(std::move(of)), overlaps(filters, run), rule(how) {
    for (const matched_filter& filter : filters)
        least_score.push_back(
            static_cast<std::int32_t>(std::ceil(threshold_of(filter, rule) * filter.noise)));
    sizes.resize(filters.size());
    for (std::uint32_t unit = 0; unit < filters.size(); ++unit) expect(unit, amplitudes_of(rule));
    const auto most = static_cast<std::int32_t>(std::lround(rule.misfit * (1 << overlap_bits)));
    for (std::size_t unit = 0; unit < filters.size(); ++unit)
        misfits.emplace_back(overlaps.of(unit).size(), most);
}

void match_plan::expect(std::uint32_t unit, const expected_amplitudes& amplitudes) {
    const double noise = filters[unit].noise;
    const double norm = std::max(filters[unit].norm, 1);
    const auto weight = [&](double spread) {
        return std::llround((1 << spread_bits) * noise * noise / (spread * norm * spread * norm));
    };
    sizes[unit] = {.least = static_cast<std::int32_t>(std::ceil(amplitudes.least * norm)),
                   .usual = static_cast<std::int32_t>(std::lround(amplitudes.usual * norm)),
                   .most = static_cast<std::int32_t>(std::floor(amplitudes.most * norm)),
                   .weight_below = weight(amplitudes.spread_below),
                   .weight_above = weight(amplitudes.spread_above)};
}

expected_amplitudes amplitudes_of(const match_rule& rule) {
    return {.least = rule.least_amplitude,
            .most = rule.most_amplitude,
            .spread_below = rule.amplitude_spread,
            .spread_above = rule.amplitude_spread};
}

left_over_table nothing_left_over(const match_plan& plan) {
    left_over_table out;
    if (!plan.rule.measures_left_over) return out;
    for (std::size_t unit = 0; unit < plan.filters.size(); ++unit)
        out.emplace_back(plan.overlaps.of(unit).size());
    return out;
}

void correlate(const integer_block& block, const matched_filter& filter, std::size_t before,
               std::span<std::int32_t> scores) {
    if (filter.ranks == 0 || block.frames < filter.frames) return;
    const filter_kernels& kernels = runnable_filter_kernels().back();
    std::vector<const std::int16_t*> traces;
    for (const std::uint32_t channel : filter.channels) traces.push_back(block.on(channel).data());
    std::vector<std::int16_t> seen(filter.ranks * block.frames);
    std::vector<std::int16_t*> by_rank;
    for (std::size_t r = 0; r < filter.ranks; ++r) by_rank.push_back(&seen[r * block.frames]);
    kernels.project(traces, filter.spatial, block.frames, by_rank);

    const std::span<std::int32_t> sums = scores.subspan(before, block.frames - filter.frames + 1);
    std::ranges::fill(sums, half_filter);
    for (std::size_t r = 0; r < filter.ranks; ++r)
        kernels.correlate({by_rank[r], block.frames}, filter.temporal_of(r), sums);
    for (std::int32_t& sum : sums) sum >>= filter_bits;
}

score_table scores_of(std::span<const matched_filter> filters, const integer_block& block,
                      std::size_t before) {
    score_table out{.frames = block.frames};
    out.values.resize(filters.size() * block.frames);
    for (std::size_t i = 0; i < filters.size(); ++i)
        correlate(block, filters[i], before, out.of(i));
    return out;
}

block_matches match_block(const match_plan& plan, score_table scores, const match_limits& limits) {
    return pursuit(plan, std::move(scores), limits).find();
}

}  // namespace spikeweave::templates
