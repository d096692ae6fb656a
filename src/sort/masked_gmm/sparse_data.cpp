#include "sort/masked_gmm/sparse_data.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "core/stop.hpp"
#include "parallel/parallel_for.hpp"

namespace spikeweave::masked_gmm {
namespace {

// Columns processed together in one pass over all spikes: a cache line.
constexpr std::size_t columns_at_once = 8;
constexpr std::size_t spikes_at_once = 4096;

std::size_t pieces(std::size_t n, std::size_t size) {
    return (n + size - 1) / size;
}

struct column_scale {
    double low = 0;
    double range = 1;
};

// One column, gathered from the rows of the spikes for which it is known.
struct column_view {
    std::vector<double> values{};
    std::vector<double> masks{};
};

// Returns columns [begin, end) with their masks.
std::vector<column_view> take_columns(const spike_features& features, std::size_t begin,
                                      std::size_t end) {
    std::vector<column_view> out(end - begin);
    for (column_view& column : out) {
        column.values.reserve(features.size());
        column.masks.reserve(features.size());
    }
    for (std::size_t n = 0; n < features.size(); ++n) {
        for (std::size_t i = begin; i < end; ++i) {
            if (!features.is_known(n, i)) continue;
            out[i - begin].values.push_back(features.value(n, i));
            out[i - begin].masks.push_back(0);
        }
        const auto columns = features.unmasked(n);
        const auto masks = features.mask_values(n);
        for (auto at = static_cast<std::size_t>(
                 std::lower_bound(columns.begin(), columns.end(), begin) - columns.begin());
             at < columns.size() && columns[at] < end; ++at)
            out[columns[at] - begin].masks.back() = masks[at];
    }
    return out;
}

column_scale scale(std::vector<double>& values) {
    if (values.empty()) return {};
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const column_scale scaled{*low, *high > *low ? *high - *low : 1};
    for (double& x : values) x = (x - scaled.low) / scaled.range;
    return scaled;
}

// Returns the largest mask that still counts as masked. It is 0 unless too few spikes have mask 0
// to estimate a variance; then the tenth of spikes with the lowest masks is used.
double masked_up_to(const std::vector<double>& masks) {
    constexpr std::ptrdiff_t enough_masked = 4;
    constexpr std::size_t part = 10;
    const auto tenth = static_cast<std::ptrdiff_t>(pieces(masks.size(), part));
    const std::ptrdiff_t masked = std::count(masks.begin(), masks.end(), 0.0);
    if (masked >= std::min(tenth, enough_masked)) return 0;
    std::vector<double> sorted = masks;
    const auto last = sorted.begin() + (tenth - 1);
    std::nth_element(sorted.begin(), last, sorted.end());
    return *last;
}

struct column_noise {
    double mean = 0;
    double variance = 0;
    bool seldom_masked = false;
};

column_noise noise_of(const column_view& column) {
    if (column.values.empty()) return {};
    const double limit = masked_up_to(column.masks);
    column_noise noise{.seldom_masked = limit > 0};
    double count = 0;
    for (std::size_t n = 0; n < column.values.size(); ++n) {
        if (column.masks[n] > limit) continue;
        noise.mean += column.values[n];
        ++count;
    }
    noise.mean /= count;
    for (std::size_t n = 0; n < column.values.size(); ++n) {
        const double off = column.values[n] - noise.mean;
        if (column.masks[n] <= limit) noise.variance += off * off;
    }
    noise.variance /= count;
    return noise;
}

double terms(double features) {
    return features * (features + 3) / 2 + 1;
}

struct open_group {
    bit_row bits{};
    double features = 0;
    double spikes = 0;
};

double united(const bit_row& a, const bit_row& b) {
    int count = 0;
    for (std::size_t w = 0; w < a.size(); ++w) count += std::popcount(a[w] | b[w]);
    return count;
}

bool has(const bit_row& bits, std::uint32_t i) {
    constexpr std::size_t word_bits = 64;
    return (bits[i / word_bits] >> (i % word_bits) & 1U) != 0;
}

// Adds each pattern to the group for which this is the least additional work, or to a new group if
// that is less. Only groups that contain the pattern's first feature are considered.
std::vector<std::uint32_t> group_patterns(const spike_features& features,
                                          const mask_patterns& patterns, const group_rules& rules,
                                          const std::stop_token& stop,
                                          std::vector<open_group>& groups) {
    const auto work = [&rules](double columns, double spikes) {
        return terms(columns) * (rules.gather_cost + spikes);
    };
    std::vector<std::uint32_t> group_of(patterns.size());
    std::vector<std::vector<std::uint32_t>> groups_with(features.feature_count() + 1);
    std::size_t step = 0;
    for (const std::uint32_t p : by_frequency(patterns)) {
        core::stop_at_times(step++, stop);
        const auto columns = features.unmasked(patterns.first_spike[p]);
        open_group own{bits_of(features, patterns.first_spike[p]),
                       static_cast<double>(columns.size()),
                       static_cast<double>(patterns.spikes[p])};
        // Groups with fully masked spikes are in a separate list.
        const auto& near = groups_with[columns.empty() ? features.feature_count() : columns[0]];
        double least = work(own.features, own.spikes);
        std::size_t at = groups.size();
        for (std::size_t c = 0; c < std::min(near.size(), rules.looked_at); ++c) {
            const open_group& other = groups[near[c]];
            const double together = united(other.bits, own.bits);
            const double more =
                work(together, other.spikes + own.spikes) - work(other.features, other.spikes);
            if (more < least && (together <= static_cast<double>(rules.most_columns) ||
                                 together <= std::max(other.features, own.features))) {
                least = more;
                at = near[c];
            }
        }
        group_of[p] = static_cast<std::uint32_t>(at);
        if (at == groups.size()) groups.push_back({bit_row(own.bits.size()), 0, 0});
        open_group& joined = groups[at];
        for (const std::uint32_t i : columns)
            if (!has(joined.bits, i)) groups_with[i].push_back(static_cast<std::uint32_t>(at));
        if (columns.empty()) groups_with.back().push_back(static_cast<std::uint32_t>(at));
        joined.features = united(joined.bits, own.bits);
        joined.spikes += own.spikes;
        for (std::size_t w = 0; w < own.bits.size(); ++w) joined.bits[w] |= own.bits[w];
    }
    return group_of;
}

std::vector<spike_group> group_spikes(const spike_features& features, const group_rules& rules,
                                      const std::stop_token& stop) {
    const mask_patterns patterns = find_patterns(features);
    std::vector<open_group> open;
    const std::vector<std::uint32_t> group_of =
        group_patterns(features, patterns, rules, stop, open);
    std::vector<spike_group> groups(open.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
        for (std::uint32_t i = 0; i < features.feature_count(); ++i)
            if (has(open[g].bits, i)) groups[g].columns.push_back(i);
    }
    for (std::uint32_t n = 0; n < features.size(); ++n)
        groups[group_of[patterns.of_spike[n]]].spikes.push_back(n);
    return groups;
}

}  // namespace

feature_space measure_space(const spike_features& features, const execution& run) {
    const std::size_t count = features.feature_count();
    feature_space space{.low = std::vector<double>(count),
                        .range = std::vector<double>(count),
                        .noise = {std::vector<double>(count), std::vector<double>(count)}};
    std::atomic<std::size_t> seldom{0};
    std::atomic<std::size_t> without_variance{0};
    parallel::parallel_for(
        pieces(count, columns_at_once), run, "scaling features", [&](std::size_t piece) {
            const std::size_t begin = piece * columns_at_once;
            std::vector<column_view> columns =
                take_columns(features, begin, std::min(begin + columns_at_once, count));
            for (std::size_t i = 0; i < columns.size(); ++i) {
                const column_scale own_scale = scale(columns[i].values);
                space.low[begin + i] = own_scale.low;
                space.range[begin + i] = own_scale.range;
                const column_noise own = noise_of(columns[i]);
                space.noise.mean[begin + i] = own.mean;
                space.noise.variance[begin + i] = std::max(own.variance, least_variance);
                seldom += own.seldom_masked ? 1 : 0;
                without_variance += own.variance < least_variance ? 1 : 0;
            }
        });
    space.seldom_masked = seldom;
    space.floored = without_variance;
    return space;
}

sparse_data::sparse_data(const spike_features& what, const group_rules& rules, const execution& run)
    : sparse_data(what, measure_space(what, run), rules, run) {}

sparse_data::sparse_data(const spike_features& what, const feature_space& space,
                         const group_rules& rules, const execution& run)
    : features(&what),
      noise(space.noise),
      seldom_masked(space.seldom_masked),
      floored(space.floored) {
    delta.resize(what.masks().columns.size());
    eta.resize(delta.size());
    cost.resize(what.size());
    const auto fill = [&](std::size_t n) {
        const auto at = what.masks().offsets[n];
        const auto own_columns = columns(n);
        const auto own_masks = masks(n);
        double gamma = 0;
        for (std::size_t a = 0; a < own_columns.size(); ++a) {
            const std::uint32_t i = own_columns[a];
            const double m = own_masks[a];
            const double off = (what.value(n, i) - space.low[i]) / space.range[i] - noise.mean[i];
            delta[at + a] = m * off;
            eta[at + a] = m * ((1 - m) * off * off - noise.variance[i]);
            gamma += m;
        }
        cost[n] = gamma * (gamma + 1) / 2 + gamma + 1;
    };
    parallel::parallel_for(
        pieces(what.size(), spikes_at_once), run, "scaling features", [&](std::size_t c) {
            const std::size_t end = std::min((c + 1) * spikes_at_once, what.size());
            for (std::size_t n = c * spikes_at_once; n < end; ++n) fill(n);
        });
    groups = group_spikes(what, rules, run.stop);
}

mask_patterns find_patterns(const spike_features& features) {
    mask_patterns found;
    found.of_spike.reserve(features.size());
    std::unordered_map<std::string_view, std::uint32_t> known;
    for (std::uint32_t n = 0; n < features.size(); ++n) {
        const auto columns = features.unmasked(n);
        const std::string_view key{reinterpret_cast<const char*>(columns.data()),
                                   columns.size_bytes()};
        const auto [at, is_new] = known.try_emplace(key, static_cast<std::uint32_t>(found.size()));
        if (is_new) {
            found.first_spike.push_back(n);
            found.spikes.push_back(0);
        }
        ++found.spikes[at->second];
        found.of_spike.push_back(at->second);
    }
    return found;
}

std::vector<std::uint32_t> by_frequency(const mask_patterns& patterns) {
    std::vector<std::uint32_t> order(patterns.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return patterns.spikes[a] > patterns.spikes[b];
    });
    return order;
}

bit_row bits_of(const spike_features& features, std::uint32_t spike) {
    constexpr std::size_t word_bits = 64;
    bit_row bits((features.feature_count() + word_bits - 1) / word_bits);
    for (const std::uint32_t i : features.unmasked(spike))
        bits[i / word_bits] |= std::uint64_t{1} << (i % word_bits);
    return bits;
}

}  // namespace spikeweave::masked_gmm
