#include "synfire/assess/surrogates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "assess/renewal.hpp"
#include "parallel/parallel_for.hpp"
#include "synfire/core/error.hpp"
#include "synfire/core/random.hpp"
#include "synfire/spikes/spike_trains.hpp"

namespace synfire {
namespace {

constexpr std::array<std::pair<surrogate_method, std::string_view>, 2> names{{
    {surrogate_method::interval_jitter, "interval-jitter"},
    {surrogate_method::spike_dithering, "spike-dithering"},
}};

// The clock of the renewal model, as in significance_options.
constexpr duration tick = std::chrono::milliseconds{1};

void check(const surrogate_options& options) {
    if (options.dither <= duration{0} || options.dither > std::chrono::hours{1})
        throw invalid_argument(fmt::format("the dither must be above 0 and at most 1 h, not {}",
                                           format_duration(options.dither)));
}

// The shortest interval between two spikes of a unit, as Stella et al. 2022 estimate its dead time,
// up to the 4 ms beyond which few spikes tell nothing. Surrogates that violate it have closer
// spikes, which makes fewer occurrences without overlap, and the data look special that are not.
std::int64_t dead_time_us(std::span<const std::int64_t> times) {
    std::int64_t shortest = 4'000;
    for (std::size_t i = 1; i < times.size(); ++i)
        shortest = std::min(shortest, times[i] - times[i - 1]);
    return shortest;
}

// Uniform places in [first, last] for all given times, `gap` apart: draws them in what the gaps
// leave free and puts these back in.
void place(std::span<std::int64_t> times, std::int64_t first, std::int64_t last, std::int64_t gap,
           random_stream& random) {
    const auto gaps = static_cast<std::int64_t>(times.size() - 1) * gap;
    const auto places = static_cast<std::uint64_t>(last - first - gaps + 1);
    for (std::int64_t& t : times) t = first + static_cast<std::int64_t>(random.below(places));
    std::sort(times.begin(), times.end());
    for (std::size_t i = 0; i < times.size(); ++i) times[i] += static_cast<std::int64_t>(i) * gap;
}

void jitter(std::span<std::int64_t> times, time_span span, std::int64_t width,
            random_stream& random) {
    const std::int64_t origin = span.begin.count();
    const std::int64_t gap = dead_time_us(times);
    std::int64_t free = origin;  // from here on the spike before is no longer felt
    for (std::size_t begin = 0; begin < times.size();) {
        const std::int64_t cell = (times[begin] - origin) / width;
        const std::int64_t first = origin + cell * width;
        const std::int64_t last = std::min(first + width - 1, span.end.count());
        std::size_t end = begin + 1;
        while (end < times.size() && times[end] <= last) ++end;
        // Where the interval before leaves too little room, its last spike is not minded.
        const auto needed = static_cast<std::int64_t>(end - begin - 1) * gap;
        const std::int64_t from = free <= last - needed ? std::max(first, free) : first;
        place(times.subspan(begin, end - begin), from, last, gap, random);
        free = times[end - 1] + gap;
        begin = end;
    }
}

// There is room: the original spikes were no closer.
void move_apart(std::span<std::int64_t> times, std::int64_t last, std::int64_t gap) {
    std::sort(times.begin(), times.end());
    for (std::size_t i = 1; i < times.size(); ++i)
        times[i] = std::max(times[i], times[i - 1] + gap);
    for (auto t = times.rbegin(); t != times.rend() && *t > last; ++t) {
        *t = last;
        last -= gap;
    }
}

void dither(std::span<std::int64_t> times, time_span span, std::int64_t most,
            random_stream& random) {
    const std::int64_t first = span.begin.count();
    const std::int64_t last = span.end.count();
    const std::int64_t gap = dead_time_us(times);
    for (std::int64_t& t : times) {
        t += static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * most + 1))) -
             most;
        if (t < first) t = 2 * first - t;
        if (t > last) t = 2 * last - t;
        t = std::clamp(t, first, last);  // in a span shorter than the dither
    }
    move_apart(times, last, gap);
}

spike_sequence surrogate_of(const spike_trains& trains, const spike_sequence& original,
                            const surrogate_options& options, std::uint32_t which) {
    const bool jittered = options.method == surrogate_method::interval_jitter;
    const auto purpose =
        jittered ? random_purpose::interval_jitter : random_purpose::spike_dithering;
    std::vector<std::pair<std::int64_t, unit_id>> all;
    all.reserve(trains.size());
    std::vector<std::int64_t> times;
    for (std::uint32_t u = 0; u < trains.unit_count(); ++u) {
        const auto source = trains.times_us(unit_id{u});
        times.assign(source.begin(), source.end());
        random_stream random(options.seed, purpose, u, which);
        if (jittered)
            jitter(times, original.span(), 2 * options.dither.count(), random);
        else
            dither(times, original.span(), options.dither.count(), random);
        for (const std::int64_t t : times) all.emplace_back(t, unit_id{u});
    }
    std::sort(all.begin(), all.end());
    std::vector<std::int64_t> times_us;
    std::vector<unit_id> units;
    times_us.reserve(all.size());
    units.reserve(all.size());
    for (const auto& [time_us, unit] : all) {
        times_us.push_back(time_us);
        units.push_back(unit);
    }
    return {std::move(times_us), std::move(units), original.unit_names(), original.span()};
}

// Whole numbers, so that the order in which surrogates finish does not matter.
struct tally {
    std::uint64_t sum = 0;
    std::uint64_t reached = 0;  // surrogates with at least the real count
};

std::vector<tally> count_in_surrogates(const spike_sequence& spikes, const episode_table& table,
                                       const surrogate_options& options, const execution& run) {
    std::vector<episode> episodes;
    episodes.reserve(table.episodes.size());
    for (const counted_episode& counted : table.episodes) episodes.push_back(counted.what);

    const spike_trains trains(spikes);
    std::vector<tally> tallies(episodes.size());
    std::mutex adding;
    parallel_for(options.surrogates, run, "counting in surrogates", [&](std::size_t s) {
        const spike_sequence surrogate =
            surrogate_of(trains, spikes, options, static_cast<std::uint32_t>(s));
        const std::vector<std::uint64_t> counts =
            count_episodes(surrogate, episodes, {.ties = table.ties},
                           {.threads = 1, .stop = run.stop})
                .counts;
        const std::lock_guard lock(adding);
        for (std::size_t i = 0; i < counts.size(); ++i) {
            tallies[i].sum += counts[i];
            tallies[i].reached += counts[i] >= table.episodes[i].count ? 1 : 0;
        }
    });
    return tallies;
}

}  // namespace

std::string_view to_string(surrogate_method method) {
    for (const auto& [value, name] : names)
        if (value == method) return name;
    return "?";
}

surrogate_method surrogate_method_from(std::string_view name) {
    for (const auto& [value, known] : names)
        if (known == name) return value;
    throw invalid_argument(fmt::format(
        "no surrogate method is named '{}'; there are interval-jitter, spike-dithering", name));
}

spike_sequence make_surrogate(const spike_sequence& spikes, const surrogate_options& options,
                              std::uint32_t which) {
    check(options);
    return surrogate_of(spike_trains(spikes), spikes, options, which);
}

std::vector<surrogate_assessment> assess_by_surrogates(const spike_sequence& spikes,
                                                       const episode_table& table,
                                                       const surrogate_options& options,
                                                       correction correct, const execution& run) {
    check(options);
    if (options.surrogates == 0)
        throw invalid_argument("an assessment needs at least one surrogate");
    const std::vector<tally> tallies = count_in_surrogates(spikes, table, options, run);

    const independent_units null(spikes, tick);
    const double surrogates = options.surrogates;
    std::vector<surrogate_assessment> out;
    std::vector<double> p;
    std::vector<double> tail_p;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
        const auto& [what, count] = table.episodes[i];
        p.push_back(static_cast<double>(1 + tallies[i].reached) / (1 + surrogates));
        // The data count as one more surrogate, for the mean as for the rank: otherwise a count
        // that no surrogate reaches by chance would look impossible.
        const double mean = static_cast<double>(tallies[i].sum + count) / (1 + surrogates);
        occurrence_model model = null.model(what);
        model.start_probability = start_probability_for(mean, model.ticks, model.span_ticks);
        tail_p.push_back(what.size() < 2 ? 1 : model.tail_probability(count));
        out.push_back({static_cast<double>(tallies[i].sum) / surrogates, p[i], 1, tail_p[i], 1});
    }
    const std::vector<double> q = adjust_by_size(table, p, correct);
    const std::vector<double> tail_q = adjust_by_size(table, tail_p, correct);
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i].q = q[i];
        out[i].tail_q = tail_q[i];
    }
    return out;
}

std::vector<assessed_episode> by_surrogates(std::span<const assessed_episode> assessed,
                                            std::span<const surrogate_assessment> surrogates) {
    if (assessed.size() != surrogates.size())
        throw invalid_argument(fmt::format("{} episodes were assessed, but {} by surrogates",
                                           assessed.size(), surrogates.size()));
    std::vector<assessed_episode> out(assessed.begin(), assessed.end());
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i].expected = surrogates[i].mean_count;
        out[i].p = surrogates[i].tail_p;
        out[i].q = std::max(surrogates[i].tail_q, surrogates[i].p);
    }
    return out;
}

}  // namespace synfire
