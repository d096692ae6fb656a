#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "spikeweave/mine/spade.hpp"

namespace spikeweave::spade {

/// The rules of a search, for millions of queries per second.
class rule_set {
public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    explicit rule_set(std::span<const pattern_rule> rules) : rules_(rules.begin(), rules.end()) {
        for (pattern_rule& rule : rules_)
            if (rule.max_spikes == 0) rule.max_spikes = none;
        std::sort(rules_.begin(), rules_.end(), [](const pattern_rule& a, const pattern_rule& b) {
            return a.min_occ < b.min_occ;
        });
    }

    /// The rules, lowest min_occ first.
    std::span<const pattern_rule> rules() const { return rules_; }
    std::uint32_t least_occ() const { return rules_.front().min_occ; }

    bool take(std::uint32_t size, std::uint32_t units, std::uint32_t count) const {
        return std::any_of(rules_.begin(), rules_.end(), [&](const pattern_rule& rule) {
            return count >= rule.min_occ && size >= rule.min_spikes && size <= rule.max_spikes &&
                   units >= rule.min_neu;
        });
    }

    /// The lowest min_occ of the rules that a pattern can meet that has more than `size` spikes,
    /// with at most this many more items and units; `none` if there is no such rule.
    std::uint32_t least_above(std::uint32_t size, std::uint32_t units, std::uint32_t more_items,
                              std::uint32_t more_units) const {
        for (const pattern_rule& rule : rules_)
            if (reachable(rule, size, units, more_items, more_units)) return rule.min_occ;
        return none;
    }

    static bool reachable(const pattern_rule& rule, std::uint32_t size, std::uint32_t units,
                          std::uint32_t more_items, std::uint32_t more_units) {
        return rule.max_spikes > size &&
               (rule.min_spikes <= size || rule.min_spikes - size <= more_items) &&
               (rule.min_neu <= units || rule.min_neu - units <= more_units);
    }

private:
    std::vector<pattern_rule> rules_;
};

/// The part of a goal of `closed_search` that accepts every pattern that meets a rule.
class wants_all_that_rules_take {
public:
    explicit wants_all_that_rules_take(const rule_set& rules) : rules_(rules) {}

    std::uint32_t least(std::uint32_t size, std::uint32_t units, std::uint32_t /*duration*/,
                        std::uint32_t more_items, std::uint32_t more_units) const {
        return rules_.least_above(size, units, more_items, more_units);
    }
    bool wants(std::uint32_t size, std::uint32_t units, std::uint32_t count,
               std::uint32_t /*duration*/) const {
        return rules_.take(size, units, count);
    }
    bool may_want(std::uint32_t size, std::uint32_t units, std::uint32_t count) const {
        return rules_.take(size, units, count);
    }

private:
    const rule_set& rules_;
};

}  // namespace spikeweave::spade
