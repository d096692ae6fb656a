#include "sort/templates/overlaps.hpp"

#include <algorithm>
#include <cmath>

#include "parallel/parallel_for.hpp"
#include "sort/templates/sinc.hpp"

namespace spikeweave::templates {
namespace {

// Smaller correlations change nothing that matters.
constexpr double least_overlap = 0.01;
constexpr double filter_unit = 1.0 / (1 << filter_bits);

// Products of the spatial parts of two filters on the channels that they share: ranks x ranks.
std::vector<double> spatial_products(const matched_filter& a, const matched_filter& b) {
    std::vector<double> out(a.ranks * b.ranks);
    for (std::size_t i = 0, j = 0; i < a.channels.size() && j < b.channels.size();) {
        if (a.channels[i] < b.channels[j]) {
            ++i;
        } else if (a.channels[i] > b.channels[j]) {
            ++j;
        } else {
            for (std::size_t r = 0; r < a.ranks; ++r)
                for (std::size_t s = 0; s < b.ranks; ++s)
                    out[r * b.ranks + s] +=
                        filter_unit * filter_unit * a.spatial_of(r)[i] * b.spatial_of(s)[j];
            ++i;
            ++j;
        }
    }
    return out;
}

// The temporal parts of `of`, shifted later by a part of a frame: ranks x frames.
std::vector<std::vector<double>> shifted_parts(const matched_filter& of, double fraction) {
    std::vector<std::vector<double>> out;
    for (std::size_t r = 0; r < of.ranks; ++r) {
        const auto part = of.temporal_of(r);
        std::vector<double> values(part.size());
        std::transform(part.begin(), part.end(), values.begin(),
                       [](std::int16_t x) { return filter_unit * x; });
        out.push_back(shift_later(values, fraction));
    }
    return out;
}

// Adds the correlations of the filter with a spike at all lags.
void correlate(const matched_filter& filter, const std::vector<std::vector<double>>& spike,
               const std::vector<double>& products, std::vector<double>& into) {
    const auto frames = static_cast<std::int64_t>(filter.frames);
    std::vector<double> seen(filter.frames);
    for (std::size_t r = 0; r < filter.ranks; ++r) {
        std::fill(seen.begin(), seen.end(), 0.0);
        for (std::size_t s = 0; s < spike.size(); ++s)
            for (std::size_t f = 0; f < seen.size(); ++f)
                seen[f] += products[r * spike.size() + s] * spike[s][f];
        for (std::int64_t lag = -frames + 1; lag < frames; ++lag) {
            double sum = 0;
            for (std::int64_t f = std::max<std::int64_t>(0, -lag);
                 f < std::min(frames, frames - lag); ++f)
                sum += filter_unit * filter.temporal_of(r)[static_cast<std::size_t>(f)] *
                       seen[static_cast<std::size_t>(f + lag)];
            into[static_cast<std::size_t>(lag + frames - 1)] += sum;
        }
    }
}

bool share_a_channel(const matched_filter& a, const matched_filter& b) {
    for (std::size_t i = 0, j = 0; i < a.channels.size() && j < b.channels.size();) {
        if (a.channels[i] == b.channels[j]) return true;
        ++(a.channels[i] < b.channels[j] ? i : j);
    }
    return false;
}

}  // namespace

overlap_table::overlap_table(const std::vector<matched_filter>& filters, const execution& run)
    : rows_(filters.size()) {
    for (const matched_filter& filter : filters)
        reach_ = std::max(reach_, static_cast<std::int64_t>(filter.frames) - 1);
    const auto lags = static_cast<std::size_t>(2 * reach_ + 1);
    parallel::parallel_for(filters.size(), run, "overlaps of templates", [&](std::size_t k) {
        std::vector<std::vector<std::vector<double>>> spike(parts_of_frame);
        for (int part = 0; part < parts_of_frame; ++part)
            spike[static_cast<std::size_t>(part)] =
                shifted_parts(filters[k], static_cast<double>(part) / parts_of_frame);
        for (std::size_t j = 0; j < filters.size(); ++j) {
            if (!share_a_channel(filters[j], filters[k])) continue;
            const std::vector<double> products = spatial_products(filters[j], filters[k]);
            overlap found{.other = static_cast<std::uint32_t>(j)};
            double largest = 0;
            for (const auto& parts : spike) {
                std::vector<double> sums(lags);
                correlate(filters[j], parts, products, sums);
                for (std::size_t lag = 0; lag < lags; ++lag) {
                    const double x = sums[lag];
                    if (std::abs(x) > largest) {
                        largest = std::abs(x);
                        found.largest_lag =
                            static_cast<std::int32_t>(lag) - static_cast<std::int32_t>(reach_);
                    }
                    found.values.push_back(static_cast<std::int16_t>(
                        std::clamp(std::lround(x * (1 << overlap_bits)), -32768L, 32767L)));
                }
            }
            if (largest < least_overlap) continue;
            found.largest = static_cast<std::int32_t>(std::lround(largest * (1 << overlap_bits)));
            rows_[k].push_back(std::move(found));
        }
    });
}

}  // namespace spikeweave::templates
