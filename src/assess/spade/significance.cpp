#include "spikeweave/assess/spade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "assess/level.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// Compares signatures in the order of a spectrum.
auto spectrum_key(const pattern_signature& what) {
    return std::tuple(what.size, what.duration, what.count);
}

pattern_signature signature_of(const signature_count& found) {
    return {found.size, found.count, found.duration};
}

const spectrum_entry* find(const pvalue_spectrum& spectrum, const pattern_signature& what) {
    const auto at =
        std::lower_bound(spectrum.entries.begin(), spectrum.entries.end(), what,
                         [](const spectrum_entry& entry, const pattern_signature& value) {
                             return spectrum_key(entry.what) < spectrum_key(value);
                         });
    return at != spectrum.entries.end() && at->what == what ? &*at : nullptr;
}

void check(const pvalue_spectrum& spectrum, const signature_test_options& testing) {
    if (spectrum.surrogates == 0) throw invalid_argument("patterns are tested by surrogates");
    assess::check_level("alpha", testing.alpha);
}

// Sets q and the decision of the tested signatures.
void correct(std::vector<signature_test>& signatures, const signature_test_options& testing) {
    std::vector<double> p;
    for (const signature_test& s : signatures)
        if (s.tested) p.push_back(s.p);
    const correction_result corrected =
        correct_tests(p, p.size(), testing.correction, testing.alpha);
    std::size_t test = 0;
    for (signature_test& s : signatures) {
        if (!s.tested) continue;
        s.q = corrected.q[test];
        s.significant = corrected.rejected[test];
        ++test;
    }
}

void test_all(const pvalue_spectrum& spectrum, const signature_test_options& testing,
              signature_test_result& out) {
    for (signature_test& s : out.signatures) {
        s.p = (s.reached + 1.0) / (spectrum.surrogates + 1.0);
        s.tested = s.reached < spectrum.surrogates;
        if (!s.tested) s.reason = test_reason::p_is_one;
        if (s.reached == 0) s.reason = test_reason::absent;
    }
    correct(out.signatures, testing);

    // Every correction rejects all p up to some bound.
    bool any = false;
    std::uint32_t bound = 0;
    for (const signature_test& s : out.signatures) {
        if (!s.significant) continue;
        any = true;
        bound = std::max(bound, s.reached);
    }
    for (const spectrum_entry& entry : spectrum.entries)
        if (!any || entry.reached > bound) out.not_significant.push_back(entry.what);
    for (const signature_test& s : out.signatures)
        if (s.reached == 0 && !s.significant) out.not_significant.push_back(s.what);
}

// The reference compares with 1 with a tolerance.
bool close_to_one(double p) {
    return std::abs(p - 1) <= 1e-8 + 1e-5;
}

// The reference goes through the spectrum in its order and looks one entry back. Before the first
// entry it finds the last one, which matters if both are the same: the only entry of a spectrum is
// never tested.
std::vector<bool> elephant_mask(const pvalue_spectrum& spectrum,
                                std::span<const signature_count> found) {
    std::vector<pattern_signature> known;
    known.reserve(found.size());
    for (const signature_count& f : found) known.push_back(signature_of(f));
    std::sort(known.begin(), known.end());
    std::vector<bool> mask(spectrum.entries.size());
    for (std::size_t i = 0; i < mask.size(); ++i) {
        const auto& [what, reached, p] = spectrum.entries[i];
        if (!std::binary_search(known.begin(), known.end(), what)) continue;
        if (close_to_one(p)) continue;
        mask[i] = true;
        const std::size_t before = (i == 0 ? mask.size() : i) - 1;
        const pattern_signature& last = spectrum.entries[before].what;
        if (mask[before] && last.size == what.size && last.duration == what.duration)
            mask[before] = false;
    }
    return mask;
}

void test_as_elephant(const pvalue_spectrum& spectrum, std::span<const signature_count> found,
                      const signature_test_options& testing, signature_test_result& out) {
    const std::vector<bool> mask = elephant_mask(spectrum, found);
    for (signature_test& s : out.signatures) {
        const spectrum_entry* const entry = find(spectrum, s.what);
        if (entry == nullptr) {
            s.p = s.q = 0;
            s.significant = true;
            s.reason = test_reason::absent;
            continue;
        }
        s.p = entry->p;
        s.tested = mask[static_cast<std::size_t>(entry - spectrum.entries.data())];
        if (s.tested) continue;
        if (close_to_one(s.p))
            s.reason = test_reason::p_is_one;
        else
            s.reason =
                spectrum.entries.size() == 1 ? test_reason::single_entry : test_reason::masked;
    }
    correct(out.signatures, testing);

    std::vector<pattern_signature> significant;
    for (const signature_test& s : out.signatures)
        if (s.tested && s.significant) significant.push_back(s.what);
    std::sort(significant.begin(), significant.end());
    for (const spectrum_entry& entry : spectrum.entries)
        if (!std::binary_search(significant.begin(), significant.end(), entry.what))
            out.not_significant.push_back(entry.what);
}

}  // namespace

pattern_signature signature_of(const pattern_table& table, std::size_t pattern,
                               spectrum_kind kind) {
    return {static_cast<std::uint32_t>(table.pattern(pattern).size()), table.counts[pattern],
            kind == spectrum_kind::size_count ? 0 : table.duration(pattern)};
}

std::uint32_t pvalue_spectrum::reached(const pattern_signature& what) const {
    const spectrum_entry* const entry = find(*this, what);
    return entry == nullptr ? 0 : entry->reached;
}

std::string_view to_string(test_reason reason) {
    switch (reason) {
        case test_reason::tested:
            return "tested";
        case test_reason::absent:
            return "in none of the surrogates (p < 1/n)";
        case test_reason::p_is_one:
            return "p is 1: every surrogate reached it";
        case test_reason::masked:
            return "masked: the next higher count is tested";
        case test_reason::single_entry:
            return "masked: the spectrum has no other entry";
        case test_reason::alpha_is_one:
            return "alpha is 1: nothing is tested";
    }
    return "?";
}

signature_test_result test_signatures(std::span<const signature_count> found,
                                      const pvalue_spectrum& spectrum,
                                      const signature_test_options& testing) {
    check(spectrum, testing);
    const bool as_elephant = follows_elephant(testing.compat);
    signature_test_result out;
    out.signatures.reserve(found.size());
    for (const signature_count& f : found) {
        signature_test& s = out.signatures.emplace_back();
        s.what = signature_of(f);
        s.patterns = f.patterns;
        s.reached = spectrum.reached(s.what);
    }
    if (testing.alpha == 1) {
        for (signature_test& s : out.signatures) {
            s.p = as_elephant ? static_cast<double>(s.reached) / spectrum.surrogates
                              : (s.reached + 1.0) / (spectrum.surrogates + 1.0);
            s.significant = true;
            s.reason = test_reason::alpha_is_one;
        }
        return out;
    }
    if (as_elephant)
        test_as_elephant(spectrum, found, testing, out);
    else
        test_all(spectrum, testing, out);
    return out;
}

std::vector<const signature_test*> tests_of_patterns(const pattern_table& table, spectrum_kind kind,
                                                     std::span<const signature_test> tested) {
    std::map<pattern_signature, const signature_test*> by_signature;
    for (const signature_test& test : tested) by_signature.emplace(test.what, &test);
    std::vector<const signature_test*> out(table.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto found = by_signature.find(signature_of(table, i, kind));
        if (found == by_signature.end())
            throw invalid_argument(fmt::format("the signature of pattern {} was not tested", i));
        out[i] = found->second;
    }
    return out;
}

pattern_filter::pattern_filter(spectrum_kind kind,
                               std::span<const pattern_signature> not_significant)
    : kind_(kind), dropped_(not_significant.begin(), not_significant.end()) {
    std::sort(dropped_.begin(), dropped_.end());
}

std::vector<std::size_t> pattern_filter::kept(const pattern_table& block) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < block.size(); ++i)
        if (!std::binary_search(dropped_.begin(), dropped_.end(), signature_of(block, i, kind_)))
            out.push_back(i);
    return out;
}

std::vector<std::size_t> filter_patterns(const pattern_table& table, spectrum_kind kind,
                                         std::span<const pattern_signature> not_significant) {
    return pattern_filter(kind, not_significant).kept(table);
}

}  // namespace spikeweave
