#include "spikeweave/assess/spade/reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "assess/spade/maxima_tally.hpp"
#include "core/stop.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

using assess::least_occurrences;

namespace {

struct listed_pattern {
    std::span<const pattern_item> items;
    std::span<const std::uint32_t> starts;
    std::int64_t size;
    std::int64_t count;
    std::uint32_t duration;  // 0 unless signatures include it
};

// Which of two patterns is rejected, and why.
struct verdict {
    std::optional<reduction_rule> first{};
    std::optional<reduction_rule> second{};
};

verdict swapped(const verdict& v) {
    return {v.second, v.first};
}

class reduction_rule_checker {
public:
    reduction_rule_checker(std::span<const pattern_signature> not_significant,
                           const reduction_options& options)
        : options_(options), not_significant_(not_significant.begin(), not_significant.end()) {
        std::sort(not_significant_.begin(), not_significant_.end());
    }

    /// Decides about two patterns that share `shared` spikes after a shift.
    verdict of(const listed_pattern& a, const listed_pattern& b, std::int64_t shared) const {
        if (shared == b.size) return nested(a, b);
        if (shared == a.size) return swapped(nested(b, a));
        return decide(a, b, too_few_spikes(a, shared), too_few_spikes(b, shared),
                      reduction_rule::superset);
    }

private:
    verdict nested(const listed_pattern& super, const listed_pattern& sub) const {
        return decide(super, sub, too_few_spikes(super, sub.size), too_seldom(super, sub),
                      reduction_rule::subset);
    }

    verdict decide(const listed_pattern& super, const listed_pattern& sub, bool against_super,
                   bool against_sub, reduction_rule sub_rule) const {
        verdict out;
        if (against_super && against_sub) {
            const bool super_stays = covered(super) >= covered(sub);
            (super_stays ? out.second : out.first) = reduction_rule::covered;
        } else if (against_super) {
            out.first = reduction_rule::superset;
        } else if (against_sub) {
            out.second = sub_rule;
        }
        return out;
    }

    bool too_seldom(const listed_pattern& super, const listed_pattern& sub) const {
        const std::int64_t beyond = sub.count - super.count + options_.h_subset_filtering;
        return beyond < options_.min_occ || by_chance(sub.size, beyond, sub.duration);
    }
    bool too_few_spikes(const listed_pattern& super, std::int64_t shared) const {
        const std::int64_t beyond = super.size - shared + options_.k_superset_filtering;
        return beyond < options_.min_spikes || by_chance(beyond, super.count, super.duration);
    }
    bool by_chance(std::int64_t size, std::int64_t count, std::uint32_t lag) const {
        if (!follows_elephant(options_.compat) &&
            count < least_occurrences(options_.rules, static_cast<std::uint32_t>(size)))
            return true;
        const pattern_signature what{static_cast<std::uint32_t>(size),
                                     static_cast<std::uint32_t>(count), lag};
        return std::binary_search(not_significant_.begin(), not_significant_.end(), what);
    }
    std::int64_t covered(const listed_pattern& p) const {
        return (p.size - options_.l_covered_spikes) * p.count;
    }

    const reduction_options& options_;
    std::vector<pattern_signature> not_significant_;
};

// A shift of the first pattern after which the two share spikes, and the number of these.
struct common_spikes {
    std::int32_t shift;
    std::int64_t shared;
};

class shift_finder {
public:
    shift_finder(std::uint32_t window_bins, bool by_number)
        : window_bins_(static_cast<std::int32_t>(window_bins)), by_number_(by_number) {}

    /// All such shifts, ascending.
    std::span<const common_spikes> of(const listed_pattern& a, const listed_pattern& b) {
        shifts_.clear();
        for (const pattern_item x : a.items)
            for (const pattern_item y : b.items)
                if (same(x, y))
                    shifts_.push_back(static_cast<std::int32_t>(x) - static_cast<std::int32_t>(y));
        std::sort(shifts_.begin(), shifts_.end());
        common_.clear();
        for (const std::int32_t shift : shifts_) {
            if (common_.empty() || common_.back().shift != shift) common_.push_back({shift, 0});
            ++common_.back().shared;
        }
        return common_;
    }

private:
    // Whether some shift within the window makes the two items the same.
    bool same(pattern_item x, pattern_item y) const {
        if (by_number_)
            return std::abs(static_cast<std::int32_t>(x) - static_cast<std::int32_t>(y)) <
                   window_bins_;
        const auto bins = static_cast<pattern_item>(window_bins_);
        return x / bins == y / bins;
    }

    std::int32_t window_bins_;
    bool by_number_;
    std::vector<std::int32_t> shifts_;
    std::vector<common_spikes> common_;
};

// Whether at least `wanted` starts of b are `shift` bins later than a start of a.
bool coincide(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
              std::int32_t shift, std::size_t wanted) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (std::min(a.size() - i, b.size() - j) >= wanted) {
        if (wanted == 0) return true;
        const std::int64_t x = std::int64_t{a[i]} + shift;
        const std::int64_t y = b[j];
        wanted -= x == y ? 1 : 0;
        i += x <= y ? 1 : 0;
        j += y <= x ? 1 : 0;
    }
    return false;
}

// Finds the patterns of the list that can share a spike with a given one, by their units.
class partner_finder {
public:
    partner_finder(std::span<const listed_pattern> list, std::uint32_t window_bins, bool by_number)
        : window_bins_(window_bins), by_number_(by_number), seen_by_(list.size(), list.size()) {
        pattern_item largest = 0;
        for (const listed_pattern& p : list)
            for (const pattern_item item : p.items) largest = std::max(largest, item);
        // Shifted item numbers can reach into the neighbouring units on both sides.
        of_unit_.resize(largest / window_bins + 3);
        for (std::size_t i = 0; i < list.size(); ++i)
            for (const pattern_item item : list[i].items) {
                auto& members = of_unit_[item / window_bins + 1];
                if (members.empty() || members.back() != i) members.push_back(i);
            }
    }

    /// The partners after this position in the list, ascending.
    std::span<const std::size_t> after(std::size_t position, const listed_pattern& p) {
        partners_.clear();
        const std::size_t reach = by_number_ ? 1 : 0;
        for (const pattern_item item : p.items) {
            const std::size_t unit = item / window_bins_ + 1;
            for (std::size_t u = unit - reach; u <= unit + reach; ++u) collect(position, u);
        }
        std::sort(partners_.begin(), partners_.end());
        return partners_;
    }

private:
    void collect(std::size_t position, std::size_t unit) {
        const auto& members = of_unit_[unit];
        for (auto at = std::upper_bound(members.begin(), members.end(), position);
             at != members.end(); ++at) {
            if (seen_by_[*at] == position) continue;
            seen_by_[*at] = position;
            partners_.push_back(*at);
        }
    }

    std::uint32_t window_bins_;
    bool by_number_;
    std::vector<std::vector<std::size_t>> of_unit_;
    std::vector<std::size_t> seen_by_;
    std::vector<std::size_t> partners_;
};

void check(const pattern_table& table, std::span<const std::size_t> list,
           const reduction_options& options) {
    if (table.window_bins == 0) throw invalid_argument("a window must have at least one bin");
    if (options.min_occ == 0 || options.min_spikes == 0)
        throw invalid_argument("a pattern has at least one spike and one occurrence");
    if (table.occurrence_offsets.size() != table.size() + 1)
        throw invalid_argument("patterns without their occurrences cannot be reduced");
    std::vector<bool> listed(table.size());
    for (const std::size_t pattern : list) {
        if (pattern >= table.size())
            throw invalid_argument(
                fmt::format("there is no pattern {} in a table of {}", pattern, table.size()));
        if (listed[pattern])
            throw invalid_argument(fmt::format("pattern {} is listed twice", pattern));
        listed[pattern] = true;
    }
}

std::vector<listed_pattern> patterns_of(const pattern_table& table,
                                        std::span<const std::size_t> list, spectrum_kind kind) {
    std::vector<listed_pattern> out;
    out.reserve(list.size());
    for (const std::size_t i : list) {
        const pattern_signature what = signature_of(table, i, kind);
        out.push_back(
            {table.pattern(i), table.occurrences_of(i), what.size, what.count, what.duration});
    }
    return out;
}

class reduction {
public:
    reduction(const pattern_table& table, std::span<const std::size_t> list,
              std::span<const pattern_signature> not_significant, const reduction_options& options)
        : list_(list),
          patterns_(patterns_of(table, list, options.spectrum)),
          checker_(not_significant, options),
          shifts_(table.window_bins, follows_elephant(options.compat)),
          partners_(patterns_, table.window_bins, follows_elephant(options.compat)),
          min_occ_(options.min_occ),
          rejected_(list.size()) {}

    reduction_result operator()(const execution& run) {
        for (std::size_t a = 0; a < patterns_.size(); ++a) {
            core::throw_if_stopped(run.stop);
            for (const std::size_t b : partners_.after(a, patterns_[a])) compare(a, b);
            if (run.on_progress) run.on_progress({"reducing patterns", a + 1, patterns_.size()});
        }
        reduction_result out;
        for (std::size_t i = 0; i < patterns_.size(); ++i) {
            if (rejected_[i])
                out.rejected.push_back(*rejected_[i]);
            else
                out.kept.push_back(list_[i]);
        }
        return out;
    }

private:
    void compare(std::size_t a, std::size_t b) {
        if (rejected_[a] && rejected_[b]) return;
        for (const auto& [shift, shared] : shifts_.of(patterns_[a], patterns_[b])) {
            const verdict v = checker_.of(patterns_[a], patterns_[b], shared);
            const bool news = (v.first && !rejected_[a]) || (v.second && !rejected_[b]);
            if (!news || !coincide(patterns_[a].starts, patterns_[b].starts, shift, min_occ_))
                continue;
            reject(a, b, v.first);
            reject(b, a, v.second);
            if (rejected_[a] && rejected_[b]) return;
        }
    }

    void reject(std::size_t which, std::size_t by, const std::optional<reduction_rule>& rule) {
        if (rule && !rejected_[which])
            rejected_[which] = rejected_pattern{list_[which], list_[by], *rule};
    }

    std::span<const std::size_t> list_;
    std::vector<listed_pattern> patterns_;
    reduction_rule_checker checker_;
    shift_finder shifts_;
    partner_finder partners_;
    std::size_t min_occ_;
    std::vector<std::optional<rejected_pattern>> rejected_;
};

}  // namespace

std::string_view to_string(reduction_rule rule) {
    switch (rule) {
        case reduction_rule::subset:
            return "subset";
        case reduction_rule::superset:
            return "superset";
        case reduction_rule::covered:
            return "covered";
    }
    return "?";
}

reduction_result reduce_patterns(const pattern_table& table, std::span<const std::size_t> list,
                                 std::span<const pattern_signature> not_significant,
                                 const reduction_options& options, const execution& run) {
    check(table, list, options);
    return reduction(table, list, not_significant, options)(run);
}

}  // namespace spikeweave
