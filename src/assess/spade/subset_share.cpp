#include "assess/spade/subset_share.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_set>

#include "core/stop.hpp"

namespace spikeweave::assess {
namespace {

bool within(std::span<const std::uint64_t> part, std::span<const std::uint64_t> whole) {
    for (std::size_t w = 0; w < part.size(); ++w)
        if ((part[w] & ~whole[w]) != 0) return false;
    return true;
}

bool within_any(std::span<const std::uint64_t> part, const subset_family& family) {
    for (std::size_t i = 0; i < family.size(); ++i)
        if (within(part, family.row(i))) return true;
    return false;
}

// Marks the subsets, then step by step those that lack one element of a marked subset.
double share_of_all(const subset_family& hit, const std::stop_token& stop) {
    const std::size_t all = std::size_t{1} << hit.elements();
    std::vector<bool> marked(all);
    for (std::size_t i = 0; i < hit.size(); ++i)
        marked[hit.words() == 0 ? 0 : hit.row(i)[0]] = true;
    for (std::size_t element = 0; element < hit.elements(); ++element) {
        core::throw_if_stopped(stop);
        const std::size_t bit = std::size_t{1} << element;
        for (std::size_t subset = 0; subset < all; ++subset)
            if ((subset & bit) != 0 && marked[subset]) marked[subset ^ bit] = true;
    }
    const auto outside = std::count(marked.begin(), marked.end(), false);
    return static_cast<double>(outside) / static_cast<double>(all);
}

double share_of_random(const subset_family& hit, std::uint64_t samples, random_stream& random,
                       const std::stop_token& stop) {
    constexpr std::uint64_t between_looks = 4096;
    const std::size_t last_bits = hit.elements() - (hit.words() - 1) * 64;
    const std::uint64_t last_mask = ~std::uint64_t{0} >> (64 - last_bits);
    std::vector<std::uint64_t> subset(hit.words());
    std::unordered_set<std::uint64_t> drawn;
    std::uint64_t outside = 0;
    for (std::uint64_t sample = 0; sample < samples;) {
        if (sample % between_looks == 0) core::throw_if_stopped(stop);
        for (std::uint64_t& word : subset) word = random.next_u64();
        subset.back() &= last_mask;
        if (hit.elements() < 64 && !drawn.insert(subset[0]).second) continue;
        ++sample;
        if (!within_any(subset, hit)) ++outside;
    }
    return static_cast<double>(outside) / static_cast<double>(samples);
}

}  // namespace

void subset_family::reduce() {
    std::vector<std::size_t> order(size_);
    std::vector<int> elements(size_);
    for (std::size_t i = 0; i < size_; ++i)
        for (const std::uint64_t word : row(i)) elements[i] += std::popcount(word);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto less = [&](std::size_t a, std::size_t b) {
        if (elements[a] != elements[b]) return elements[a] > elements[b];
        const auto x = row(a);
        const auto y = row(b);
        return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
    };
    std::sort(order.begin(), order.end(), less);
    subset_family kept(elements_);
    constexpr std::size_t compared = 64;
    for (const std::size_t i : order) {
        bool covered = false;
        const std::size_t last = kept.size_;
        for (std::size_t k = 0; k < std::min(last, compared) && !covered; ++k)
            covered = within(row(i), kept.row(k));
        if (!covered && last > 0) covered = within(row(i), kept.row(last - 1));
        if (covered) continue;
        kept.add_empty();
        const auto from = row(i);
        std::copy(from.begin(), from.end(), kept.bits_.end() - static_cast<std::ptrdiff_t>(words_));
    }
    *this = std::move(kept);
}

double share_outside(subset_family hit, std::uint64_t samples, random_stream random,
                     const std::stop_token& stop) {
    hit.reduce();
    if (hit.elements() < 64 && samples >= std::uint64_t{1} << hit.elements())
        return share_of_all(hit, stop);
    return share_of_random(hit, samples, random, stop);
}

}  // namespace spikeweave::assess
