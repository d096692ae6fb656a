#include "spikeweave/assess/spade/stability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stop_token>
#include <string>
#include <utility>

#include "assess/spade/subset_share.hpp"
#include "io/little_endian.hpp"
#include "parallel/parallel_for.hpp"
#include "parallel/ranks.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"

namespace spikeweave {

using assess::share_outside;
using assess::subset_family;
using parallel::block_of_rank;
using parallel::gather_on_all;

namespace {

// Each thread holds the subsets of one pattern.
constexpr std::uint64_t most_subsets = 10'000'000;

// The windows that hold each item.
class item_index {
public:
    explicit item_index(const spade_windows& windows)
        : offsets_(windows.unit_count() * windows.window_bins() + 1),
          windows_(windows.item_count()) {
        for (std::size_t w = 0; w < windows.size(); ++w)
            for (const pattern_item item : windows.items(w)) ++offsets_[item + 1];
        for (std::size_t i = 1; i < offsets_.size(); ++i) offsets_[i] += offsets_[i - 1];
        std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
        for (std::size_t w = 0; w < windows.size(); ++w)
            for (const pattern_item item : windows.items(w))
                windows_[next[item]++] = static_cast<std::uint32_t>(w);
    }

    std::size_t item_count() const { return offsets_.size() - 1; }
    std::span<const std::uint32_t> windows_of(pattern_item item) const {
        return std::span{windows_}.subspan(offsets_[item], offsets_[item + 1] - offsets_[item]);
    }

private:
    std::vector<std::size_t> offsets_;
    std::vector<std::uint32_t> windows_;
};

class stability_finder {
public:
    stability_finder(const spade_windows& windows, const pattern_table& table,
                     const stability_options& options, std::stop_token stop)
        : windows_(windows),
          table_(table),
          index_(windows),
          subsets_(subset_count(options)),
          seed_(options.seed),
          stop_(std::move(stop)) {}

    stability of(std::size_t pattern) const {
        const std::span<const pattern_item> items = table_.pattern(pattern);
        const std::vector<std::uint32_t> places = windows_of(pattern);
        return {share(elsewhere(items, places), pattern, 0),
                share(in_common(items, places), pattern, 1)};
    }

private:
    double share(subset_family hit, std::size_t pattern, std::uint32_t side) const {
        return share_outside(std::move(hit), subsets_,
                             random_stream(seed_, random_purpose::pattern_subsets,
                                           static_cast<std::uint32_t>(pattern), side),
                             stop_);
    }

    // The numbers of the windows in which the pattern occurs, ascending.
    std::vector<std::uint32_t> windows_of(std::size_t pattern) const {
        const std::span<const std::uint32_t> starts = windows_.starts();
        std::vector<std::uint32_t> out;
        out.reserve(table_.counts[pattern]);
        for (const std::uint32_t start : table_.occurrences_of(pattern)) {
            const auto at = std::lower_bound(starts.begin(), starts.end(), start);
            if (at == starts.end() || *at != start)
                throw invalid_argument(fmt::format("no window begins at bin {}", start));
            out.push_back(static_cast<std::uint32_t>(at - starts.begin()));
        }
        return out;
    }

    // For each window without the pattern: which of the pattern's spikes it holds. These subsets,
    // and all subsets of them, occur elsewhere.
    subset_family elsewhere(std::span<const pattern_item> items,
                            std::span<const std::uint32_t> places) const {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> found;  // window, spike
        for (std::uint32_t k = 0; k < items.size(); ++k) {
            if (items[k] >= index_.item_count())
                throw invalid_argument("the patterns are not of these windows");
            for (const std::uint32_t window : index_.windows_of(items[k]))
                found.emplace_back(window, k);
        }
        std::sort(found.begin(), found.end());
        subset_family out(items.size());
        for (std::size_t i = 0; i < found.size();) {
            const std::uint32_t window = found[i].first;
            const bool place = std::binary_search(places.begin(), places.end(), window);
            if (!place) out.add_empty();
            for (; i < found.size() && found[i].first == window; ++i)
                if (!place) out.put(found[i].second);
        }
        if (places.size() < windows_.size()) out.add_empty();
        return out;
    }

    // For each spike that is not in the pattern: the occurrences that hold it have it in common.
    subset_family in_common(std::span<const pattern_item> items,
                            std::span<const std::uint32_t> places) const {
        std::vector<std::uint32_t> first(index_.item_count());  // index of each item's subset
        subset_family out(places.size());
        for (const std::uint32_t place : places)
            for (const pattern_item item : windows_.items(place)) ++first[item];
        for (const pattern_item item : items) first[item] = 0;
        std::uint32_t subsets = 0;
        for (std::uint32_t& f : first)
            if (f > 0) {
                f = ++subsets;
                out.add_empty();
            }
        for (std::uint32_t k = 0; k < places.size(); ++k)
            for (const pattern_item item : windows_.items(places[k]))
                if (first[item] > 0) out.put(first[item] - 1, k);
        if (items.size() < index_.item_count()) out.add_empty();
        return out;
    }

    const spade_windows& windows_;
    const pattern_table& table_;
    item_index index_;
    std::uint64_t subsets_;
    std::uint64_t seed_;
    std::stop_token stop_;
};

std::string bytes_of(std::span<const stability> values) {
    std::string bytes;
    for (const stability& value : values) {
        io::append(bytes, std::bit_cast<std::uint64_t>(value.intensional));
        io::append(bytes, std::bit_cast<std::uint64_t>(value.extensional));
    }
    return bytes;
}

void read_bytes(const std::string& bytes, std::vector<stability>& into) {
    constexpr std::size_t width = 2 * sizeof(double);
    for (std::size_t at = 0; at + width <= bytes.size(); at += width)
        into.push_back({io::load<double>(bytes.data() + at),
                        io::load<double>(bytes.data() + at + sizeof(double))});
}

}  // namespace

std::uint64_t subset_count(const stability_options& options) {
    auto n = static_cast<double>(options.n_subsets);
    if (options.n_subsets == 0) {
        if (!(options.delta > 0 && options.delta < 1 && options.epsilon > 0 &&
              options.epsilon <= 1))
            throw invalid_argument(
                "stability needs a number of subsets, or delta and epsilon between 0 and 1");
        n = std::nearbyint(std::log(2 / options.delta) / (2 * options.epsilon * options.epsilon) +
                           1);
    }
    if (n > static_cast<double>(most_subsets))
        throw invalid_argument(
            fmt::format("{:.0f} random subsets a pattern are more than {}", n, most_subsets));
    return static_cast<std::uint64_t>(n);
}

std::vector<stability> approximate_stability(const spade_windows& windows,
                                             const pattern_table& table,
                                             const stability_options& options,
                                             const execution& run) {
    if (table.window_bins != windows.window_bins())
        throw invalid_argument("the patterns are not of these windows");
    if (table.occurrence_offsets.size() != table.size() + 1)
        throw invalid_argument("patterns without their occurrences have no stability");
    const stability_finder finder(windows, table, options, run.stop);
    const auto [begin, end] = block_of_rank(table.size(), run);
    const std::size_t first = begin;
    std::vector<stability> own(end - begin);
    parallel::parallel_for(own.size(), run, "stability of patterns",
                           [&](std::size_t i) { own[i] = finder.of(first + i); });
    if (!run.ranks) return own;
    std::vector<stability> all;
    all.reserve(table.size());
    for (const std::string& part : gather_on_all(bytes_of(own), run)) read_bytes(part, all);
    return all;
}

std::vector<std::size_t> filter_stable(std::span<const stability> values,
                                       const stability& thresholds) {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i].intensional > thresholds.intensional ||
            values[i].extensional > thresholds.extensional)
            kept.push_back(i);
    return kept;
}

}  // namespace spikeweave
