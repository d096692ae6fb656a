#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "spikeweave/mine/bursts.hpp"

/// The definitions of docs/algorithms/bursts.md, read as plainly and slowly as possible. It shares
/// no code with the library.
namespace spikeweave::naive {

using range = std::pair<std::size_t, std::size_t>;  // the first and the last spike
using times = std::vector<std::int64_t>;

// Whether all intervals between spikes `a` and `b` are at most `most`.
inline bool are_near(const times& t, std::size_t a, std::size_t b, std::int64_t most) {
    for (std::size_t i = a + 1; i <= b; ++i)
        if (t[i] - t[i - 1] > most) return false;
    return true;
}

inline std::vector<range> fixed_intervals(const times& t, const burst_options& how) {
    const std::int64_t begin = how.begin_interval.count();
    const std::int64_t end = how.end_interval.count();
    std::vector<range> found;
    for (std::size_t a = 0; a < t.size(); ++a)
        for (std::size_t b = a + 1; b < t.size(); ++b) {
            bool is_first = true;
            for (std::size_t c = 0; c < a; ++c)
                if (t[c + 1] - t[c] < begin && are_near(t, c, a, end)) is_first = false;
            const bool is_last = b + 1 == t.size() || t[b + 1] - t[b] > end;
            if (is_first && is_last && t[a + 1] - t[a] < begin && are_near(t, a, b, end))
                found.emplace_back(a, b);
        }
    for (std::size_t i = 0; i + 1 < found.size();) {
        if (t[found[i + 1].first] - t[found[i].second] < how.min_separation.count()) {
            found[i].second = found[i + 1].second;
            found.erase(found.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            i = 0;
        } else {
            ++i;
        }
    }
    std::erase_if(found, [&](const range& one) {
        return one.second - one.first + 1 < how.min_spikes ||
               t[one.second] - t[one.first] < how.min_duration.count();
    });
    return found;
}

/// The longest interval of log-isi, in microseconds. @param trains  of one unit, by epoch
inline std::optional<std::int64_t> longest_interval(const std::vector<times>& trains,
                                                    std::int64_t core) {
    const auto begin_of = [](int bin) { return std::llround(1000 * std::pow(10.0, bin / 10.0)); };
    std::vector<double> counts(100);
    for (const times& t : trains)
        for (std::size_t i = 1; i < t.size(); ++i)
            for (int bin = 0; bin < 100; ++bin)
                if (t[i] - t[i - 1] >= begin_of(bin) && t[i] - t[i - 1] < begin_of(bin + 1))
                    ++counts[static_cast<std::size_t>(bin)];
    const auto at = [&](int bin) { return counts[static_cast<std::size_t>(bin)]; };
    std::vector<int> peaks;
    for (int bin = 2; bin < 98; ++bin)
        if (at(bin) > at(bin - 2) && at(bin) > at(bin - 1) && at(bin) > at(bin + 1) &&
            at(bin) > at(bin + 2))
            peaks.push_back(bin);
    int highest = -1;
    for (const int peak : peaks)
        if (begin_of(peak) < core && (highest < 0 || at(peak) > at(highest))) highest = peak;
    if (highest < 0) return {};
    for (const int peak : peaks) {
        if (peak <= highest) continue;
        int emptiest = highest;
        for (int bin = highest; bin <= peak; ++bin)
            if (at(bin) < at(emptiest)) emptiest = bin;
        if (1 - at(emptiest) / std::sqrt(at(highest) * at(peak)) >= 0.7)
            return begin_of(emptiest) < 1'000'000 ? begin_of(emptiest) : core;
    }
    return core;
}

inline std::vector<range> adaptive(const times& t, std::int64_t longest, std::int64_t core,
                                   std::size_t min_spikes) {
    std::vector<range> found;
    for (std::size_t a = 0; a < t.size(); ++a)
        for (std::size_t b = a; b < t.size(); ++b) {
            const bool is_whole = (a == 0 || t[a] - t[a - 1] > longest) &&
                                  (b + 1 == t.size() || t[b + 1] - t[b] > longest) &&
                                  are_near(t, a, b, longest);
            bool has_core = false;
            for (std::size_t c = a + 1; c <= b; ++c) has_core = has_core || t[c] - t[c - 1] <= core;
            if (is_whole && has_core && b - a + 1 >= min_spikes) found.emplace_back(a, b);
        }
    return found;
}

/// The spikes of a unit in each epoch.
inline std::vector<times> trains_of(const spike_sequence& spikes, std::uint32_t unit) {
    std::vector<times> out;
    for (const time_span& epoch : spikes.observed()) {
        times& train = out.emplace_back();
        for (std::size_t i = 0; i < spikes.size(); ++i) {
            const duration at{spikes.times_us()[i]};
            if (spikes.units()[i] == unit_id{unit} && at >= epoch.begin && at <= epoch.end)
                train.push_back(at.count());
        }
    }
    return out;
}

inline std::vector<unit_burst> bursts_of(const spike_sequence& spikes, std::uint32_t unit,
                                         const burst_options& how) {
    const std::vector<times> trains = trains_of(spikes, unit);
    const std::int64_t core = how.core_interval.count();
    const auto longest = longest_interval(trains, core);
    std::vector<unit_burst> out;
    for (const times& t : trains) {
        std::vector<range> ranges;
        if (how.method == burst_method::max_interval)
            ranges = fixed_intervals(t, how);
        else if (longest)
            ranges = adaptive(t, *longest, std::min(core, *longest), how.min_spikes);
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            const auto [a, b] = ranges[i];
            unit_burst one{.unit = unit_id{unit},
                           .begin = duration{t[a]},
                           .end = duration{t[b]},
                           .spikes = b - a + 1};
            if (i > 0) one.interval = duration{t[a] - t[ranges[i - 1].second]};
            out.push_back(one);
        }
    }
    return out;
}

/// Network bursts, by looking at every half of a microsecond. Only for very short recordings.
/// @param bursts  gets the network bursts
inline std::vector<network_burst> network_of(const spike_sequence& spikes,
                                             std::vector<unit_burst>& bursts,
                                             const burst_options& how) {
    std::set<unit_id> firing(spikes.units().begin(), spikes.units().end());
    std::size_t needed = 3;
    while (double(needed) < how.network_share * double(firing.size())) ++needed;
    std::vector<network_burst> out;
    for (const time_span& epoch : spikes.observed()) {
        std::vector<network_burst> here;
        bool was_enough = false;
        for (std::int64_t half = 2 * epoch.begin.count(); half <= 2 * epoch.end.count(); ++half) {
            const auto together = std::ranges::count_if(bursts, [&](const unit_burst& one) {
                return 2 * one.begin.count() <= half && half <= 2 * one.end.count();
            });
            const bool is_enough = std::size_t(together) >= needed;
            const duration now{half / 2};
            if (is_enough && !was_enough &&
                (here.empty() || now - here.back().end >= how.min_separation)) {
                here.push_back({.begin = now});
            }
            if (is_enough) here.back().end = now;
            was_enough = is_enough;
        }
        std::erase_if(
            here, [&](const network_burst& one) { return one.end - one.begin < how.min_duration; });
        for (std::size_t i = 1; i < here.size(); ++i)
            here[i].interval = here[i].begin - here[i - 1].end;
        out.insert(out.end(), here.begin(), here.end());
    }
    for (std::size_t n = 0; n < out.size(); ++n) {
        network_burst& one = out[n];
        std::set<unit_id> units;
        for (unit_burst& burst : bursts)
            if (burst.begin <= one.end && one.begin <= burst.end) {
                units.insert(burst.unit);
                if (!burst.network) burst.network = n;
            }
        one.participating = units.size();
        std::vector<std::int64_t> in;
        for (const std::int64_t at : spikes.times_us())
            if (at >= one.begin.count() && at <= one.end.count()) in.push_back(at);
        one.spikes = in.size();
        std::int64_t most = 0;
        for (const std::int64_t from : in)
            most = std::max<std::int64_t>(most, std::ranges::count_if(in, [&](std::int64_t at) {
                                              return at >= from && at < from + 10'000;
                                          }));
        one.peak_rate_hz = 100 * double(most);
    }
    return out;
}

}  // namespace spikeweave::naive
