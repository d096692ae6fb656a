#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace spikeweave::assess {

/// A cumulant generating function at one point, with its first two derivatives.
struct cumulants {
    double value = 0;
    double first = 0;
    double second = 0;
};

/// P(N < count) and P(N >= count) of a sum N of many independent whole numbers.
struct count_tails {
    double below;
    double from;
};

/// The distribution of a sum of many independent small counts, such as one for each segment of a
/// recording. Counts with nearly the same distribution are pooled and each is replaced by the mean
/// of the pool. By Jensen's inequality this can only widen the distribution of the sum, so tails
/// err on the safe side.
class count_distribution {
public:
    /// Adds a count that is 1 with this probability, and 0 otherwise.
    void add(double probability);
    /// Adds a count that is j + 1 with probability `of[j]`, and 0 otherwise. The last probability
    /// must be above 0.
    void add(std::span<const double> of);

    double mean() const { return mean_; }
    /// P(sum >= count). For counts up to 40 it is added up; beyond, it is computed from the
    /// cumulant generating function by the saddlepoint formula of Lugannani and Rice (1980, Adv.
    /// Appl. Prob. 12:475) with the lattice correction of Daniels (1987, Int. Stat. Rev. 55:37). In
    /// the tests this is at most 3 % below the exact tail; far out, pooling makes it larger.
    double tail_probability(std::uint64_t count) const;

private:
    struct pool {
        double number = 0;
        std::vector<double> sum{};  // sums of the probabilities of 1, 2, ...
    };
    /// Those of counts of 0 or 1, the likeliest first, because nearly all counts are.
    struct single_pool {
        double number = 0;
        double sum = 0;
    };
    static constexpr std::size_t single_pools = 161;
    template <class Take>
    void each_pool(const Take& take) const;
    count_tails tails_at(std::uint64_t count) const;
    count_tails added_up_tails(std::size_t count) const;
    /// The cumulant generating function and its derivatives.
    cumulants at(double theta) const;

    std::array<single_pool, single_pools> singles_{};
    std::map<std::pair<std::size_t, std::size_t>, pool> pools_;  // of the others
    double mean_ = 0;
};

}  // namespace spikeweave::assess
