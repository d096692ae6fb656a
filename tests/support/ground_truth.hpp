#pragma once

// The accuracy with which a sorting finds known units, as SpikeInterface counts it: a spike of a
// unit and one of a true unit match when they are at most 0.4 ms apart, each with one other; the
// accuracy of a true unit is that of the sorted unit with which it shares more than half of both
// units' spikes, and 0 when there is none. Shares above a half belong to one pair only, so nothing
// has to be assigned.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using spike_samples = std::vector<std::int64_t>;

/// The samples of each label, ascending.
template <class Label>
std::vector<spike_samples> trains_of(const std::vector<std::int64_t>& samples,
                                     const std::vector<Label>& labels) {
    std::vector<spike_samples> trains;
    for (std::size_t n = 0; n < samples.size(); ++n) {
        const auto label = static_cast<std::size_t>(labels[n]);
        if (trains.size() <= label) trains.resize(label + 1);
        trains[label].push_back(samples[n]);
    }
    for (spike_samples& train : trains) std::sort(train.begin(), train.end());
    return trains;
}

/// @param apart  the largest distance in samples of two spikes that match
inline double matches(const spike_samples& a, const spike_samples& b, std::int64_t apart) {
    double count = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const std::int64_t between = a[i] - b[j];
        if (between <= apart && between >= -apart) {
            ++count;
            ++i;
            ++j;
        } else if (between < 0) {
            ++i;
        } else {
            ++j;
        }
    }
    return count;
}

/// The accuracy of each true unit.
inline std::vector<double> accuracies(const std::vector<spike_samples>& truth,
                                      const std::vector<spike_samples>& sorted,
                                      std::int64_t apart) {
    std::vector<double> out;
    for (const spike_samples& unit : truth) {
        double best = 0;
        for (const spike_samples& found : sorted) {
            const double both = matches(unit, found, apart);
            const double any = static_cast<double>(unit.size() + found.size()) - both;
            best = std::max(best, any > 0 ? both / any : 0);
        }
        out.push_back(best > 0.5 ? best : 0);
    }
    return out;
}
