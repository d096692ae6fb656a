#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "mine/assemblies/pair_test.hpp"
#include "mine/assemblies/series.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/mine/assemblies.hpp"

namespace spikeweave::assemblies {
namespace {

// All assemblies at one bin width that are not within a larger one, by size.
struct width_result {
    std::vector<assembly> assemblies{};
    std::vector<assembly_step> steps{};
};

// A set of units, as bits.
class unit_set {
public:
    unit_set() = default;
    explicit unit_set(std::size_t units, std::initializer_list<unit_id> members = {})
        : words_((units + 63) / 64) {
        for (const unit_id unit : members) add(unit);
    }

    void add(unit_id unit) { words_[word(unit)] |= bit(unit); }
    bool has(unit_id unit) const { return (words_[word(unit)] & bit(unit)) != 0; }
    void add_all(const unit_set& others) {
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= others.words_[i];
    }
    void remove_all(const unit_set& others) {
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~others.words_[i];
    }
    bool is_within(const unit_set& others) const {
        for (std::size_t i = 0; i < words_.size(); ++i)
            if ((words_[i] & ~others.words_[i]) != 0) return false;
        return true;
    }

    friend auto operator<=>(const unit_set&, const unit_set&) = default;

private:
    static std::size_t word(unit_id unit) { return to_index(unit) / 64; }
    static std::uint64_t bit(unit_id unit) { return std::uint64_t{1} << (to_index(unit) % 64); }

    std::vector<std::uint64_t> words_{};
};

// An assembly with the data for joining further units; at first a single unit.
struct member_group {
    assembly found{};
    series active{};
    unit_set members;
};

// A significant test: `unit` joins `group`.
struct joining {
    std::size_t group = 0;
    std::uint32_t unit = 0;
    pair_score score{};
    std::uint64_t count = 0;
    double level = 1;  ///< the corrected level of the test
};

// The groups that each unit may join, and the level of each group's tests.
struct plan {
    std::vector<std::vector<std::size_t>> groups_of{};
    std::vector<double> level{};
    std::uint64_t tests = 0;
};

// The tests of a plan that were not possible.
struct test_counts {
    std::uint64_t not_possible = 0;
    std::uint64_t too_rare = 0;  ///< those of them that are expected too rarely
};

class agglomeration {
public:
    agglomeration(const std::vector<series>& units, const layout& bins, double alpha,
                  const assembly_options& options, const execution& run)
        : units_(units), bins_(bins), alpha_(alpha), options_(options), run_(run) {}

    width_result find() {
        std::vector<std::vector<member_group>> sizes{single_units()};
        for (std::uint32_t size = 2; options_.max_size == 0 || size <= options_.max_size; ++size) {
            const std::vector<member_group>& groups = sizes.back();
            const plan next = size == 2 ? pairs() : larger(groups);
            test_counts tested;
            std::vector<joining> found = test(groups, next, size, tested);
            if (size == 2) note_pairs(found);
            const std::size_t significant = found.size();
            keep_most_significant(groups, found);
            const bool too_many = found.size() > options_.max_assemblies;
            steps_.push_back({bins_.bin, size, next.tests - tested.not_possible, tested.too_rare,
                              significant, found.size(), too_many});
            if (found.empty()) break;
            sizes.push_back(grown(groups, found));
            if (too_many) break;
        }
        sizes.erase(sizes.begin());
        return {maximal(sizes), std::move(steps_)};
    }

private:
    std::vector<member_group> single_units() const {
        std::vector<member_group> out;
        for (std::uint32_t u = 0; u < units_.size(); ++u)
            out.push_back({{.bin = bins_.bin, .units = {unit_id{u}}, .lags = {0}},
                           units_[u],
                           unit_set(units_.size(), {unit_id{u}})});
        return out;
    }

    double lags() const { return 2.0 * bins_.max_lag + 1; }

    plan pairs() const {
        const std::size_t n = units_.size();
        plan out{.groups_of = std::vector<std::vector<std::size_t>>(n)};
        out.tests = n * (n - 1) / 2;
        out.level.assign(n, alpha_ / (static_cast<double>(out.tests) * lags()));
        for (std::size_t u = 0; u < n; ++u) {
            out.groups_of[u].resize(u);
            std::iota(out.groups_of[u].begin(), out.groups_of[u].end(), std::size_t{0});
        }
        return out;
    }

    // Units may join that make a significant pair with a member.
    plan larger(const std::vector<member_group>& groups) const {
        plan out{.groups_of = std::vector<std::vector<std::size_t>>(units_.size())};
        for (std::size_t g = 0; g < groups.size(); ++g) {
            core::stop_at_times(g, run_.stop);
            unit_set candidates(units_.size());
            for (const unit_id unit : groups[g].found.units)
                candidates.add_all(partners_[to_index(unit)]);
            candidates.remove_all(groups[g].members);
            std::size_t number = 0;
            for (std::uint32_t u = 0; u < units_.size(); ++u)
                if (candidates.has(unit_id{u})) {
                    out.groups_of[u].push_back(g);
                    ++number;
                }
            out.tests += number;
            out.level.push_back(alpha_ / (static_cast<double>(std::max<std::size_t>(number, 1)) *
                                          static_cast<double>(groups.size()) * lags()));
        }
        return out;
    }

    // Tests all that the plan has, unit by unit, because the counts of a unit are looked up at many
    // lags. Returns the significant findings, by group and then by unit.
    std::vector<joining> test(const std::vector<member_group>& groups, const plan& next,
                              std::uint32_t size, test_counts& tested) const {
        std::vector<std::vector<joining>> found(units_.size());
        std::vector<test_counts> counts(units_.size());
        const std::string task = fmt::format("testing assemblies of {} units in bins of {}", size,
                                             format_duration(bins_.bin));
        parallel::parallel_for(units_.size(), run_, task, [&](std::size_t u) {
            if (next.groups_of[u].empty()) return;
            const dense_counts at = dense(units_[u], bins_);
            for (const std::size_t g : next.groups_of[u]) {
                core::throw_if_stopped(run_.stop);
                const auto score =
                    test_pair(groups[g].active, units_[u], at, options_.reference_lag, bins_);
                if (!score || score->is_too_rare) {
                    ++counts[u].not_possible;
                    counts[u].too_rare += score ? 1 : 0;
                    continue;
                }
                if (!(score->p < next.level[g])) continue;
                const series both = joined(groups[g].active, at, score->lag, bins_);
                const auto count =
                    std::accumulate(both.count.begin(), both.count.end(), std::uint64_t{0});
                if (count < options_.min_count) continue;
                found[u].push_back(
                    {g, static_cast<std::uint32_t>(u), *score, count, next.level[g]});
            }
        });
        for (const test_counts& one : counts) {
            tested.not_possible += one.not_possible;
            tested.too_rare += one.too_rare;
        }
        std::vector<joining> out;
        for (const auto& part : found) out.insert(out.end(), part.begin(), part.end());
        std::ranges::sort(out, {},
                          [](const joining& one) { return std::tuple(one.group, one.unit); });
        return out;
    }

    void note_pairs(const std::vector<joining>& found) {
        partners_.assign(units_.size(), unit_set(units_.size()));
        for (const joining& pair : found) {
            partners_[pair.group].add(unit_id{pair.unit});
            partners_[pair.unit].add(unit_id{static_cast<std::uint32_t>(pair.group)});
        }
    }

    // Among the ways to make the same set of units, keeps the one with the smallest p, the first of
    // equal ones.
    static void keep_most_significant(const std::vector<member_group>& groups,
                                      std::vector<joining>& found) {
        std::map<unit_set, std::size_t> place;
        std::vector<joining> kept;
        for (const joining& one : found) {
            unit_set members = groups[one.group].members;
            members.add(unit_id{one.unit});
            const auto [at, is_new] = place.try_emplace(std::move(members), kept.size());
            if (is_new)
                kept.push_back(one);
            else if (one.score.p < kept[at->second].score.p)
                kept[at->second] = one;
        }
        found = std::move(kept);
    }

    std::vector<member_group> grown(const std::vector<member_group>& groups,
                                    const std::vector<joining>& found) const {
        std::vector<std::vector<std::size_t>> of_unit(units_.size());
        for (std::size_t i = 0; i < found.size(); ++i) of_unit[found[i].unit].push_back(i);
        std::vector<member_group> out(found.size());
        parallel::parallel_for(units_.size(), run_, "joining units", [&](std::size_t u) {
            if (of_unit[u].empty()) return;
            const dense_counts at = dense(units_[u], bins_);
            for (const std::size_t i : of_unit[u]) {
                const joining& how = found[i];
                const member_group& from = groups[how.group];
                member_group& to = out[i];
                to.found = from.found;
                to.found.units.push_back(unit_id{how.unit});
                to.found.lags.push_back(how.score.lag);
                to.found.p.push_back(how.score.p);
                to.found.p_corrected = std::min(1.0, how.score.p / how.level * options_.alpha);
                to.found.counts.push_back(how.count);
                to.members = from.members;
                to.members.add(unit_id{how.unit});
                to.active = joined(from.active, at, how.score.lag, bins_);
            }
        });
        return out;
    }

    std::vector<assembly> maximal(std::vector<std::vector<member_group>>& sizes) const {
        std::vector<assembly> out;
        for (std::size_t s = 0; s < sizes.size(); ++s)
            for (member_group& one : sizes[s]) {
                core::throw_if_stopped(run_.stop);
                const auto holds_it = [&](const member_group& other) {
                    return one.members.is_within(other.members);
                };
                bool is_part = false;
                for (std::size_t l = s + 1; l < sizes.size() && !is_part; ++l)
                    is_part = std::ranges::any_of(sizes[l], holds_it);
                if (!is_part) out.push_back(with_activations(one));
            }
        return out;
    }

    assembly with_activations(member_group& one) const {
        for (std::size_t i = 0; i < one.active.size(); ++i)
            one.found.activations.push_back(
                {bins_.time_of(one.active.at[i]), static_cast<std::uint32_t>(one.active.count[i])});
        return std::move(one.found);
    }

    const std::vector<series>& units_;
    const layout& bins_;
    double alpha_;
    const assembly_options& options_;
    const execution& run_;
    std::vector<unit_set>
        partners_{};  // of each unit: those with which it makes a significant pair
    std::vector<assembly_step> steps_{};
};

// @param alpha  the level, corrected for the number of bin widths
// @throws cancelled
width_result agglomerate(const std::vector<series>& units, const layout& bins, double alpha,
                         const assembly_options& options, const execution& run) {
    if (units.size() < 2) return {};
    return agglomeration(units, bins, alpha, options, run).find();
}

}  // namespace
}  // namespace spikeweave::assemblies

namespace spikeweave {
namespace {

// With fewer bins the distribution of the statistic does not hold, as the authors' program states.
constexpr std::uint64_t fewest_usable_bins = 100;

std::vector<unit_id> sorted_units(const assembly& of) {
    std::vector<unit_id> out = of.units;
    std::ranges::sort(out);
    return out;
}

void check_bins(const assembly_options& options) {
    if (options.bins.empty()) throw invalid_argument("bins", "expected at least one width");
    std::set<duration> seen;
    for (const duration bin : options.bins) {
        if (bin <= duration{0})
            throw invalid_argument("bins", fmt::format("{} is not above 0", format_duration(bin)));
        if (!seen.insert(bin).second)
            throw invalid_argument("bins", fmt::format("{} is listed twice", format_duration(bin)));
    }
}

auto smallest_p_first(const assembly& one) {
    return std::tuple(one.p.back(), -static_cast<std::int64_t>(one.units.size()), one.bin,
                      one.units);
}

// Removes assemblies from those of all bin widths according to `choice`.
void choose_bins(std::vector<assembly>& all, bin_choice choice) {
    std::ranges::stable_sort(all, {}, smallest_p_first);
    if (choice == bin_choice::every) return;
    std::set<std::vector<unit_id>> seen;
    std::erase_if(all, [&](const assembly& one) { return !seen.insert(sorted_units(one)).second; });
    if (choice == bin_choice::best) return;
    std::erase_if(all, [&](const assembly& one) {
        const std::vector<unit_id> units = sorted_units(one);
        return std::ranges::any_of(seen, [&](const std::vector<unit_id>& other) {
            return other.size() > units.size() && std::ranges::includes(other, units);
        });
    });
}

}  // namespace

template <>
enum_table<bin_choice> enum_names<bin_choice>() {
    using enum bin_choice;
    static constexpr named_value<bin_choice> values[]{
        {every, "every", "those of every bin width"},
        {best, "best", "of the same units, that with the smallest p"},
        {largest, "largest", "also none whose units are all in a larger one of another bin width"}};
    return {"choice of bin widths", values};
}

option_value option_codec<std::vector<duration>>::show(const std::vector<duration>& field) {
    std::string out;
    for (const duration one : field) {
        std::string text = format_duration(one);
        std::erase(text, ' ');
        out += (out.empty() ? "" : ",") + text;
    }
    return out;
}

std::vector<duration> option_codec<std::vector<duration>>::read(const option_value& value) {
    std::vector<duration> out;
    for (const std::string& text : option_codec<std::vector<std::string>>::read(value))
        out.push_back(parse_duration(text));
    return out;
}

option_list describe(assembly_options& options) {
    constexpr double longest_lag = 1'000;
    constexpr double longest_chunk = 1e6;
    option_list list;
    list.begin_group("Assemblies");
    list.add("bins", options.bins, "bin widths; each of them is searched separately")
        .basic()
        .written("WIDTH,...")
        .obeys([&options] { check_bins(options); });
    list.add("max_lag", options.max_lag, "the longest lag between two units, in bins")
        .basic()
        .at_least(2)
        .at_most(longest_lag);
    list.add("reference_lag", options.reference_lag,
             "a joint count is compared with the one at a lag that is shorter by this many bins; 0 "
             "compares it with the one at the opposite lag");
    list.add("alpha", options.alpha,
             "significance level; in each step it is divided by the number of tests")
        .basic()
        .above(0)
        .at_most(1);
    list.add("correct_bins", options.correct_bins,
             "divide the level by the number of bin widths as well")
        .off_means("do not divide the level by the number of bin widths");
    list.add("min_count", options.min_count, "smallest number of activations of an assembly")
        .at_least(1);
    list.add("max_size", options.max_size, "largest number of units in an assembly")
        .unset_is("no limit")
        .above(1);
    list.add("chunk", options.chunk,
             "number of successive bins in which rates are assumed to be constant")
        .at_least(3)
        .at_most(longest_chunk);
    list.add("max_assemblies", options.max_assemblies,
             "if a bin width has more assemblies of one size than this, they are not extended any "
             "further")
        .at_least(1);
    list.add("across_bins", options.across_bins,
             "which assemblies are kept if the same units are found at several bin widths: all "
             "(every), the one with the smallest p (best), or of these only those whose units are "
             "not all in a larger one (largest)");
    return list;
}

mined_assemblies mine_assemblies(const spike_sequence& spikes, const assembly_options& options,
                                 const execution& run) {
    check_options(options);
    if (options.reference_lag > options.max_lag)
        throw invalid_argument(
            "reference_lag",
            fmt::format("{} is above `max_lag` {}", options.reference_lag, options.max_lag));
    const double alpha = options.correct_bins
                             ? options.alpha / static_cast<double>(options.bins.size())
                             : options.alpha;
    mined_assemblies out;
    for (const duration width : options.bins) {
        core::throw_if_stopped(run.stop);
        const assemblies::layout bins(spikes, width, options.max_lag, options.chunk);
        if (bins.usable < fewest_usable_bins) {
            out.too_wide.push_back(width);
            continue;
        }
        const auto units = assemblies::series_of(spikes, bins, run.stop);
        assemblies::width_result found = assemblies::agglomerate(units, bins, alpha, options, run);
        std::ranges::move(found.assemblies, std::back_inserter(out.assemblies));
        std::ranges::move(found.steps, std::back_inserter(out.steps));
    }
    if (out.too_wide.size() == options.bins.size())
        throw invalid_argument(
            "bins", fmt::format("the recording has fewer than {} bins of {} after `max_lag` {}",
                                fewest_usable_bins, format_duration(std::ranges::min(options.bins)),
                                options.max_lag));
    choose_bins(out.assemblies, options.across_bins);
    return out;
}

}  // namespace spikeweave
