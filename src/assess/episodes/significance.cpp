#include "spikeweave/assess/episodes/significance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <map>

#include "assess/episodes/jitter_null.hpp"
#include "assess/episodes/renewal.hpp"
#include "assess/episodes/start_windows.hpp"
#include "assess/level.hpp"
#include "core/stop.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {

using assess::adjust_by_size;
using assess::independent_units;
using assess::jitter_null;
using assess::start_probability_for;
using assess::test_by_jitter;

namespace {

// Values too small for a double become 0, without an exception. Long doubles are not used because
// they differ between machines.
using quiet = boost::math::policies::policy<
    boost::math::policies::promote_double<false>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>,
    boost::math::policies::domain_error<boost::math::policies::ignore_error>>;

// The start probability for which the mean is `count`, relative to the firing of the first unit,
// shared equally among the steps.
double strength_of(const occurrence_model& model, double first_fires, std::uint64_t count,
                   std::size_t size) {
    if (size < 2 || count == 0 || !(first_fires > 0)) return 0;
    const double p =
        start_probability_for(static_cast<double>(count), model.ticks, model.span_ticks);
    return std::clamp(std::pow(p / first_fires, 1.0 / static_cast<double>(size - 1)), 0.0, 1.0);
}

}  // namespace

template <>
enum_table<significance_test> enum_names<significance_test>() {
    using enum significance_test;
    static constexpr named_value<significance_test> values[]{
        {jitter, "jitter", "units that share rates"},
        {exact, "exact", "stationary independent units"},
        {chebyshev, "chebyshev", "the published bound under the same null"}};
    return {"significance test", values};
}

double occurrence_model::expected_count() const {
    return ticks * start_probability / (1 + start_probability * (span_ticks - 1));
}

double occurrence_model::count_variance() const {
    const double slowed = 1 + start_probability * (span_ticks - 1);
    return ticks * start_probability * (1 - start_probability) / (slowed * slowed * slowed);
}

// c renewals of length T-1+Geometric(p) must fit into L, which means c successes in L - c(T-1)
// trials.
double occurrence_model::tail_probability(std::uint64_t count) const {
    if (count == 0) return 1;
    const auto c = static_cast<double>(count);
    const double trials = ticks - c * (span_ticks - 1);
    if (c > trials || !(start_probability > 0)) return 0;
    if (start_probability >= 1) return 1;
    return std::clamp(boost::math::ibeta(c, trials - c + 1, start_probability, quiet()), 0.0, 1.0);
}

double occurrence_model::chebyshev_threshold(double epsilon) const {
    assess::check_level("epsilon", epsilon);
    return expected_count() + std::sqrt(count_variance() / epsilon);
}

double occurrence_model::chebyshev_probability(std::uint64_t count) const {
    const double above = static_cast<double>(count) - expected_count();
    if (!(above > 0)) return 1;
    return std::min(1.0, count_variance() / (above * above));
}

count_moments count_moments_by_recursion(const occurrence_model& model) {
    const double p = model.start_probability;
    if (!(model.span_ticks >= 1 && model.ticks >= model.span_ticks) ||
        model.ticks != std::floor(model.ticks) ||
        model.span_ticks != std::floor(model.span_ticks) || !(p >= 0 && p <= 1))
        throw invalid_argument(
            "the recursion needs whole numbers of ticks, 1 <= span <= ticks, and a probability");
    const auto steps = static_cast<std::size_t>(model.ticks - model.span_ticks);
    const auto span = static_cast<std::size_t>(model.span_ticks);
    // F is the mean of the count, G its mean square.
    std::vector<double> f(steps + 1, p);
    std::vector<double> g(steps + 1, p);
    for (std::size_t i = 1; i <= steps; ++i) {
        const double f_before = i >= span ? f[i - span] : 0;
        const double g_before = i >= span ? g[i - span] : 0;
        f[i] = (1 - p) * f[i - 1] + p * (1 + f_before);
        g[i] = (1 - p) * g[i - 1] + p * (1 + g_before + 2 * f_before);
    }
    return {f.back(), g.back() - f.back() * f.back()};
}

namespace assess {

double start_probability_for(double mean, double ticks, double span_ticks) {
    const double free_ticks = ticks - mean * (span_ticks - 1);
    return free_ticks > mean ? mean / free_ticks : 1;
}

// A recording shorter than a tick is treated as one tick long, so that rates stay finite.
independent_units::independent_units(const spike_sequence& spikes, duration tick)
    : tick_(tick), tick_s_(to_seconds(tick)), observed_(spikes.observed()), trains_(spikes) {
    if (tick <= duration{0})
        throw invalid_argument(
            "tick", fmt::format("expected a time above 0 ms, found {}", format_duration(tick)));
    ticks_ = std::max(1.0, to_seconds(spikes.observed_time()) / tick_s_);
}

// The share is measured, not derived from the rate, so it includes the unit's own dead times and
// bursts.
independent_units::follower independent_units::measure(unit_id unit,
                                                       const delay_interval& delay) const {
    std::vector<completion> spikes;
    for (const std::int64_t t : trains_.times_us(unit)) spikes.push_back({t, t});
    std::vector<start_window> windows;
    find_start_windows(spikes, delay, windows);
    double covered_us = 0;
    double delays_us = 0;
    auto span = observed_.begin();
    for (const start_window& window : windows) {
        // The window ends before a spike, which the interval that it reaches into contains.
        while (span->end.count() < window.until) ++span;
        const std::int64_t begin = std::max(window.begin, span->begin.count());
        if (begin >= window.end) continue;
        const auto length = static_cast<double>(window.end - begin);
        covered_us += length;
        delays_us += length * (static_cast<double>(window.until) -
                               static_cast<double>(begin + window.end - 1) / 2);
    }
    if (!(covered_us > 0)) return {0, (to_seconds(delay.low) + to_seconds(delay.high)) / 2};
    std::int64_t whole = 0;
    for (const time_span& one : observed_) whole += one.length().count() + 1;
    const auto whole_us = static_cast<double>(whole);
    return {std::min(1.0, covered_us / whole_us), delays_us / covered_us / 1e6};
}

const independent_units::follower& independent_units::following(unit_id unit,
                                                                const delay_interval& delay) {
    const auto [found, fresh] = followers_.try_emplace({unit, delay});
    if (fresh) found->second = measure(unit, delay);
    return found->second;
}

double independent_units::fires_in_tick(unit_id unit) {
    return following(unit, {duration{0}, tick_}).share;
}

occurrence_model independent_units::model(const episode& what) {
    double p = fires_in_tick(what.units.front());
    double span_s = 0;
    for (std::size_t k = 0; k < what.delays.size(); ++k) {
        const follower& next = following(what.units[k + 1], what.delays[k]);
        p *= next.share;
        span_s += next.delay_s;
    }
    return {ticks_, p, std::max(1.0, span_s / tick_s_)};
}

}  // namespace assess

occurrence_model independent_model(const spike_sequence& spikes, const episode& what,
                                   duration tick) {
    return independent_models(spikes, {&what, 1}, tick).front();
}

std::vector<occurrence_model> independent_models(const spike_sequence& spikes,
                                                 std::span<const episode> episodes, duration tick) {
    for (const episode& what : episodes) {
        if (what.units.empty() || what.delays.size() + 1 != what.units.size())
            throw invalid_argument("an episode has one delay fewer than units");
        for (const unit_id unit : what.units)
            if (to_index(unit) >= spikes.unit_count())
                throw invalid_argument(fmt::format("there is no unit {}", to_index(unit)));
    }
    const separated_epochs apart(spikes, assess::reach_of(episodes));
    independent_units null(apart.spikes(), tick);
    std::vector<occurrence_model> models;
    models.reserve(episodes.size());
    for (const episode& what : episodes) models.push_back(null.model(what));
    return models;
}

namespace assess {

std::vector<double> adjust_by_size(const episode_table& table, std::span<const double> p,
                                   correction_method method) {
    std::map<std::size_t, std::vector<std::size_t>> of_size;
    for (std::size_t i = 0; i < table.episodes.size(); ++i)
        of_size[table.episodes[i].what.size()].push_back(i);

    std::vector<double> q(p.size(), 1.0);
    for (const auto& [size, members] : of_size) {
        if (size < 2) continue;  // not a test
        std::uint64_t tests = members.size();
        for (const episode_level& level : table.levels)
            if (level.size == size) tests = std::max(tests, level.candidates);
        std::vector<double> listed;
        listed.reserve(members.size());
        for (const std::size_t i : members) listed.push_back(p[i]);
        const std::vector<double> adjusted = adjust_p_values(listed, tests, method);
        for (std::size_t k = 0; k < members.size(); ++k) q[members[k]] = adjusted[k];
    }
    return q;
}

}  // namespace assess

std::vector<episode_test> test_against_null(const spike_sequence& given, const episode_table& table,
                                            const significance_options& options,
                                            const execution& run) {
    const separated_epochs apart(given, assess::reach_of(table.episodes));
    const spike_sequence& spikes = apart.spikes();
    independent_units null(spikes, options.tick);
    std::vector<episode_test> out;
    std::vector<double> p;
    out.reserve(table.episodes.size());
    p.reserve(table.episodes.size());
    for (const auto& [what, count] : table.episodes) {
        core::stop_at_times(out.size(), run.stop);
        if (what.size() < 2) {
            // The rates are taken from the counts, so the count of a single unit cannot be tested.
            p.push_back(1);
            out.push_back({static_cast<double>(count), 1, 1, 0});
            continue;
        }
        const occurrence_model model = null.model(what);
        p.push_back(options.test == significance_test::chebyshev
                        ? model.chebyshev_probability(count)
                        : model.tail_probability(count));
        const double strength =
            strength_of(model, null.fires_in_tick(what.units.front()), count, what.size());
        out.push_back({model.expected_count(), p.back(), 1, strength});
    }
    if (options.test == significance_test::jitter) {
        const std::vector<jitter_null::verdict> verdicts =
            test_by_jitter(spikes, table, options, run);
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (table.episodes[i].what.size() < 2) continue;
            out[i].expected = verdicts[i].expected;
            out[i].p = p[i] = verdicts[i].p;
        }
    }
    const std::vector<double> q = adjust_by_size(table, p, options.correction);
    for (std::size_t i = 0; i < out.size(); ++i) out[i].q = q[i];
    return out;
}

}  // namespace spikeweave
