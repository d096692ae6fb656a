#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "core/stop.hpp"
#include "parallel/parallel_for.hpp"
#include "sort/tracking/match_model.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/sort/tracking.hpp"

namespace spikeweave {

using sessions::likeness;
using sessions::match_model;
using sessions::placed_unit;
using sessions::possible_match;

namespace {

bool have_equal_contacts(const sorted_session& one, const sorted_session& other) {
    return std::ranges::equal(one.channels, other.channels, [](const auto& a, const auto& b) {
        constexpr double rounding_um = 0.5;
        return a.shank == b.shank && std::abs(a.x_um - b.x_um) < rounding_um &&
               std::abs(a.y_um - b.y_um) < rounding_um;
    });
}

void check(std::span<const sorted_session> sessions, const tracking_options& options) {
    check_options(options);
    if (sessions.size() < 2)
        throw invalid_argument(
            fmt::format("units are tracked through two sessions or more, not {}", sessions.size()));
    const sorted_session& first = sessions.front();
    for (const sorted_session& one : sessions) {
        if (!have_equal_contacts(one, first))
            throw invalid_argument(fmt::format(
                "'{}' has other contacts than '{}': {} and {} channels; units can be tracked "
                "through sessions of one probe, with the same channels",
                one.name, first.name, one.channels.size(), first.channels.size()));
        if (one.frames != first.frames || one.rate_hz != first.rate_hz)
            throw invalid_argument(fmt::format(
                "'{}' has waveforms of {} samples at {:g} Hz, and '{}' of {} at {:g} Hz; sort both "
                "with the same options",
                one.name, one.frames, one.rate_hz, first.name, first.frames, first.rate_hz));
    }
}

bool may_be_one(const placed_unit& one, const placed_unit& other, double reach_um) {
    return one.norm > 0 && other.norm > 0 &&
           std::hypot(one.x_um - other.x_um, one.y_um - other.y_um) <= reach_um;
}

std::vector<possible_match> candidates_among(std::span<const placed_unit> units,
                                             std::span<const placed_unit> others, double reach_um) {
    std::vector<possible_match> out;
    for (std::uint32_t a = 0; a < units.size(); ++a)
        for (std::uint32_t b = 0; b < others.size(); ++b)
            if (may_be_one(units[a], others[b], reach_um))
                out.push_back({a, b, sessions::compare_units(units[a], others[b])});
    return out;
}

// The largest probability comes first, and a unit is in one pair only.
std::vector<possible_match> assigned(std::vector<possible_match> candidates, double least) {
    std::ranges::stable_sort(candidates, std::ranges::greater{}, &possible_match::probability);
    std::map<std::uint32_t, bool> taken;
    std::map<std::uint32_t, bool> other_taken;
    std::vector<possible_match> out;
    for (const possible_match& one : candidates) {
        if (one.probability < least) break;
        if (taken[one.unit] || other_taken[one.other]) continue;
        taken[one.unit] = other_taken[one.other] = true;
        out.push_back(one);
    }
    return out;
}

split_half_check check_halves(const sorted_session& in, const match_model& model,
                              const tracking_options& options, double reach_um) {
    std::vector<placed_unit> halves[2];
    split_half_check out;
    for (const unit_footprint& unit : in.units) {
        if (unit.halves[0].empty() || unit.halves[1].empty()) continue;
        for (std::size_t h = 0; h < 2; ++h) halves[h].push_back(sessions::place_unit(in, unit, h));
        ++out.units;
    }
    std::vector<possible_match> candidates = candidates_among(halves[0], halves[1], reach_um);
    model.judge(candidates);
    out.missed = out.units;
    for (const possible_match& one : assigned(candidates, options.min_probability)) {
        --out.missed;
        if (one.unit != one.other) ++out.wrong;
    }
    return out;
}

using unit_place = std::pair<std::uint32_t, std::uint32_t>;  // session and unit

// Joins matches to neurons, the most probable first. A neuron has one unit of a session at most,
// and the mean probability of the pairs between two parts that are joined is large enough, where
// pairs that are no candidates count as 0.
class joiner {
public:
    joiner(std::span<const sorted_session> sessions, std::span<const unit_match> matches,
           double least)
        : matches_(matches), least_(least), sessions_(sessions.size()) {
        for (std::uint32_t s = 0; s < sessions.size(); ++s)
            for (std::uint32_t u = 0; u < sessions[s].units.size(); ++u) {
                part_of_[{s, u}] = parts_.size();
                parts_.push_back({{s, u}});
            }
        for (const unit_match& one : matches)
            probability_[{{one.session, one.unit}, {one.other_session, one.other_unit}}] =
                one.probability;
    }

    void join() {
        std::vector<const unit_match*> order;
        for (const unit_match& one : matches_)
            if (one.probability >= least_) order.push_back(&one);
        std::ranges::stable_sort(order, std::ranges::greater{}, &unit_match::probability);
        for (const unit_match* one : order) {
            const std::size_t a = part_of_[{one->session, one->unit}];
            const std::size_t b = part_of_[{one->other_session, one->other_unit}];
            if (a == b || !may_join(parts_[a], parts_[b])) continue;
            for (const unit_place& member : parts_[b]) {
                parts_[a].push_back(member);
                part_of_[member] = a;
            }
            parts_[b].clear();
        }
    }

    bool are_one(const unit_place& a, const unit_place& b) const {
        return part_of_.at(a) == part_of_.at(b);
    }

    std::vector<tracked_unit> units() const {
        std::vector<std::vector<unit_place>> neurons;
        for (std::vector<unit_place> part : parts_) {
            std::ranges::sort(part);
            if (!part.empty()) neurons.push_back(std::move(part));
        }
        std::ranges::sort(neurons, {}, [](const auto& part) { return part.front(); });
        std::vector<tracked_unit> out;
        for (const std::vector<unit_place>& neuron : neurons) {
            tracked_unit unit{.in_session = std::vector<std::optional<std::uint32_t>>(sessions_)};
            for (std::size_t i = 0; i < neuron.size(); ++i) {
                unit.in_session[neuron[i].first] = neuron[i].second;
                for (std::size_t k = 0; k < i; ++k)
                    unit.probability =
                        std::min(unit.probability, probability(neuron[k], neuron[i]));
            }
            out.push_back(std::move(unit));
        }
        return out;
    }

private:
    double probability(const unit_place& a, const unit_place& b) const {
        const auto found = probability_.find(std::minmax(a, b));
        return found == probability_.end() ? 0 : found->second;
    }

    bool may_join(std::span<const unit_place> a, std::span<const unit_place> b) const {
        double sum = 0;
        for (const unit_place& one : a)
            for (const unit_place& other : b) {
                if (one.first == other.first) return false;
                sum += probability(one, other);
            }
        return sum >= least_ * static_cast<double>(a.size() * b.size());
    }

    std::span<const unit_match> matches_;
    double least_;
    std::size_t sessions_;
    std::map<unit_place, std::size_t> part_of_{};
    std::vector<std::vector<unit_place>> parts_{};
    std::map<std::pair<unit_place, unit_place>, double> probability_{};
};

unit_match match_of(const session_relation& of, const possible_match& one) {
    return {.session = of.session,
            .unit = one.unit,
            .other_session = of.other_session,
            .other_unit = one.other,
            .probability = one.probability,
            .similarity = one.found.similarity,
            .distance_um = one.found.distance_um,
            .amplitude_ratio = std::exp(one.found.log_amplitude_ratio),
            .autocorrelogram_overlap = one.found.overlap};
}

// Pairs of different units of one session that are as close to each other as candidates.
void add_different(std::span<const placed_unit> units, double reach_um, std::vector<likeness>& to) {
    for (std::size_t a = 0; a < units.size(); ++a)
        for (std::size_t b = a + 1; b < units.size(); ++b)
            if (may_be_one(units[a], units[b], reach_um))
                to.push_back(sessions::compare_units(units[a], units[b]));
}

void count_accepted(tracking& found, const joiner& neurons) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, session_relation*> of;
    for (session_relation& one : found.relations) of[{one.session, one.other_session}] = &one;
    for (unit_match& one : found.matches) {
        one.is_accepted =
            neurons.are_one({one.session, one.unit}, {one.other_session, one.other_unit});
        if (!one.is_accepted) continue;
        session_relation& relation = *of[{one.session, one.other_session}];
        ++relation.accepted;
        relation.expected_false += 1 - one.probability;
    }
}

}  // namespace

tracking track_units(std::span<const sorted_session> sessions, const tracking_options& options,
                     const execution& run) {
    check(sessions, options);
    constexpr double least_listed = 0.01;
    const double reach_um = sessions::reach_of(sessions.front());
    tracking out;
    std::vector<likeness> different;
    std::vector<std::vector<possible_match>> candidates;
    for (std::uint32_t a = 0; a < sessions.size(); ++a) {
        add_different(sessions::units_to_compare(sessions[a], 0), reach_um, different);
        for (std::uint32_t b = a + 1; b < sessions.size(); ++b) {
            const double moved_um = sessions::motion_between(sessions[a], sessions[b], run);
            out.relations.push_back({.session = a, .other_session = b, .moved_um = moved_um});
            candidates.push_back(candidates_among(
                sessions::units_to_compare(sessions[a], moved_um),
                sessions::units_before_motion(sessions[b], moved_um, run), reach_um));
        }
    }
    match_model model;
    model.learn(different, candidates);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        model.judge(candidates[i]);
        for (const possible_match& one : candidates[i])
            if (one.probability >= least_listed)
                out.matches.push_back(match_of(out.relations[i], one));
    }
    joiner neurons(sessions, out.matches, options.min_probability);
    neurons.join();
    out.units = neurons.units();
    count_accepted(out, neurons);
    for (const sorted_session& one : sessions)
        out.checks.push_back(check_halves(one, model, options, reach_um));
    return out;
}

std::vector<double> autocorrelogram_of(std::span<const std::int64_t> times_us) {
    constexpr std::size_t bins = 24;
    constexpr double first_us = 1'000;
    constexpr double last_us = 300'000;
    constexpr double fewest = 100;
    std::vector<double> out(bins);
    double sum = 0;
    for (std::size_t i = 0; i < times_us.size(); ++i)
        for (std::size_t k = i + 1; k < times_us.size(); ++k) {
            const auto lag = static_cast<double>(times_us[k] - times_us[i]);
            if (lag >= last_us) break;
            if (lag < first_us) continue;
            const double at = std::log(lag / first_us) / std::log(last_us / first_us);
            ++out[std::min(bins - 1, static_cast<std::size_t>(at * bins))];
            ++sum;
        }
    if (sum < fewest) return {};
    for (double& one : out) one /= sum;
    return out;
}

}  // namespace spikeweave
