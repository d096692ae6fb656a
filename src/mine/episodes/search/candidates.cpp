#include "mine/episodes/search/candidates.hpp"

#include <compare>

namespace spikeweave::episodes {
namespace {

// A run of `length` steps of one chain, from its step `first` on.
struct part {
    const candidate_set& set;
    std::size_t episode;
    std::size_t first;
    std::size_t length;
};

std::strong_ordering compare(const part& a, const part& b) {
    const auto units_a = a.set.units_of(a.episode).subspan(a.first);
    const auto units_b = b.set.units_of(b.episode).subspan(b.first);
    const auto delays_a = a.set.delays_of(a.episode).subspan(a.first);
    const auto delays_b = b.set.delays_of(b.episode).subspan(b.first);
    for (std::size_t k = 0; k < a.length; ++k) {
        if (k > 0) {
            if (const auto order = delays_a[k - 1] <=> delays_b[k - 1]; order != 0) return order;
        }
        if (const auto order = units_a[k] <=> units_b[k]; order != 0) return order;
    }
    return std::strong_ordering::equal;
}

}  // namespace

bool chain_less(const candidate_set& a, std::size_t i, const candidate_set& b, std::size_t j) {
    return compare({a, i, 0, a.size}, {b, j, 0, b.size}) < 0;
}

std::pair<std::size_t, std::size_t> continuations(const candidate_set& frequent, std::size_t i) {
    const std::size_t shared = frequent.size - 1;
    const part end_of_i{frequent, i, 1, shared};
    const auto first_not = [&](auto before) {
        std::size_t low = 0;
        std::size_t high = frequent.count();
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (before(compare({frequent, middle, 0, shared}, end_of_i))) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    };
    return {first_not([](auto order) { return order < 0; }),
            first_not([](auto order) { return order <= 0; })};
}

void append_join(candidate_set& out, const candidate_set& frequent, std::size_t i, std::size_t j) {
    out.append(frequent.units_of(i), frequent.delays_of(i));
    out.units.push_back(frequent.units_of(j).back());
    out.delays.push_back(frequent.delays_of(j).back());
}

candidate_set part_of(const candidate_set& all, std::size_t begin, std::size_t end) {
    const auto at = [](const auto& values, std::size_t i) {
        return values.begin() + static_cast<std::ptrdiff_t>(i);
    };
    const std::size_t steps = all.size - 1;
    return {all.size,
            {at(all.units, begin * all.size), at(all.units, end * all.size)},
            {at(all.delays, begin * steps), at(all.delays, end * steps)}};
}

}  // namespace spikeweave::episodes
