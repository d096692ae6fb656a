#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace spikeweave {

/// The distribution of a sum of many independent small counts, such as one for each stretch of a
/// recording. Counts with nearly the same distribution are pooled, each taken for their mean: by
/// Jensen's inequality this can only widen the sum, so tails err on the safe side.
class count_distribution {
public:
    /// Adds a count that is 1 with this probability, else 0.
    void add(double probability);
    /// Adds a count that is j + 1 with probability `of[j]`, else 0; the last is above 0.
    void add(std::span<const double> of);

    double mean() const { return mean_; }
    /// P(sum >= count): of counts up to 40 by adding up, beyond from the cumulant generating
    /// function by the saddlepoint formula of Lugannani and Rice (1980, Adv. Appl. Prob. 12:475)
    /// with the lattice correction of Daniels (1987, Int. Stat. Rev. 55:37), which in the
    /// tests is at most 3 % below the exact tail; far out, pools put it above.
    double tail_probability(std::uint64_t count) const;

private:
    struct pool {
        double number = 0;
        std::vector<double> sum{};  // of the probabilities of 1, 2, ...
    };
    struct cumulants {
        double value = 0;
        double first = 0;
        double second = 0;
    };
    double added_up_tail(std::size_t count) const;
    /// The cumulant generating function and its derivatives.
    cumulants at(double theta) const;

    std::map<std::pair<std::size_t, int>, pool> pools_;
    double mean_ = 0;
};

}  // namespace spikeweave
