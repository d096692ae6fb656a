#include "elephant.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "synfire/assess/pattern_reduction.hpp"
#include "synfire/assess/significance.hpp"
#include "synfire/mine/elephant_order.hpp"

namespace synfire::python {
namespace {

template <class Value>
std::vector<Value> copied(const array_in<Value>& array) {
    const auto values = span_of(array);
    return {values.begin(), values.end()};
}

std::vector<std::size_t> offsets_of(const array_in<std::uint64_t>& array) {
    const auto values = span_of(array);
    return {values.begin(), values.end()};
}

// Pattern i has items[item_offsets[i]:item_offsets[i + 1]], in time order; `order` lists patterns,
// `ranks` the items of a pattern, as Elephant does.
nb::dict to_python(pattern_table table, elephant_order order) {
    nb::dict out;
    out["items"] = to_numpy(std::move(table.items));
    out["item_offsets"] = to_numpy(std::move(table.item_offsets));
    out["counts"] = to_numpy(std::move(table.counts));
    out["occurrences"] = to_numpy(std::move(table.occurrences));
    out["occurrence_offsets"] = to_numpy(std::move(table.occurrence_offsets));
    out["order"] = to_numpy(std::move(order.patterns));
    out["ranks"] = to_numpy(std::move(order.ranks));
    return out;
}

// Rows of size, count, (duration,) patterns.
nb::object to_python(const std::vector<signature_count>& found, spectrum_kind kind) {
    const std::size_t columns = kind == spectrum_kind::size_count ? 3 : 4;
    std::vector<std::int64_t> rows;
    rows.reserve(found.size() * columns);
    for (const signature_count& one : found) {
        rows.push_back(one.size);
        rows.push_back(one.count);
        if (columns == 4) rows.push_back(one.duration);
        rows.push_back(static_cast<std::int64_t>(one.patterns));
    }
    return to_numpy(std::move(rows), {found.size(), columns});
}

struct mined {
    pattern_table table{};
    elephant_order order{};
    std::vector<signature_count> found{};
};

// The patterns, or only how often each signature was found.
nb::object mine(const call_options& call, const elephant_mining& how, bool signatures,
                const std::function<spade_windows(const std::stop_token&)>& windows_of) {
    mined all = run_for_result(call, [&](const execution& run) {
        mined out{.table = {.window_bins = how.window_bins}};
        if (how.is_impossible) return out;
        const spade_windows windows = windows_of(run.stop);
        spade_options options = how.options;
        options.with_occurrences = !signatures;
        out.table = mine_patterns(windows, options, run).table;
        if (signatures)
            out.found = count_signatures(out.table, how.kind);
        else
            out.order = order_as_elephant(windows, out.table, how.rule(), run);
        return out;
    });
    if (signatures) return to_python(all.found, how.kind);
    return to_python(std::move(all.table), std::move(all.order));
}

nb::object mine_bins(const array_in<std::uint64_t>& offsets, const array_in<std::uint32_t>& bins,
                     std::uint32_t bin_count, bool signatures, const nb::dict& arguments) {
    given how(arguments);
    const elephant_mining mining = take_mining(how);
    const call_options call = how.take_call();
    how.check_all_known();
    const binned_spikes spikes = binned_of(offsets, bins, bin_count);
    return mine(call, mining, signatures, [&](const std::stop_token& stop) {
        return spade_windows(spikes, mining.window_bins, stop);
    });
}

// Windows that are given: their patterns occur in windows by number, and none is left out as a part
// of another.
nb::object mine_windows(const array_in<std::uint64_t>& offsets,
                        const array_in<std::uint32_t>& items, std::size_t unit_count,
                        const nb::dict& arguments) {
    given how(arguments);
    elephant_mining mining = take_mining(how);
    const call_options call = how.take_call();
    how.check_all_known();
    mining.options.drop_window_subsets = false;
    const spade_windows windows(offsets_of(offsets), copied(items), unit_count, mining.window_bins);
    return mine(call, mining, false, [&](const std::stop_token&) { return windows; });
}

// The windows of binned spikes: each begins at starts[i] and holds items[offsets[i]:offsets[i +
// 1]].
nb::tuple list_windows(const array_in<std::uint64_t>& offsets, const array_in<std::uint32_t>& bins,
                       std::uint32_t bin_count, std::uint32_t window_bins) {
    const binned_spikes spikes = binned_of(offsets, bins, bin_count);
    const spade_windows windows = run_for_result(
        {}, [&](const execution& run) { return spade_windows(spikes, window_bins, run.stop); });
    std::vector<std::uint64_t> begins{0};
    std::vector<pattern_item> items;
    begins.reserve(windows.size() + 1);
    items.reserve(windows.item_count());
    for (std::size_t w = 0; w < windows.size(); ++w) {
        const auto of_window = windows.items(w);
        items.insert(items.end(), of_window.begin(), of_window.end());
        begins.push_back(items.size());
    }
    return nb::make_tuple(to_numpy(windows.starts()), to_numpy(std::move(begins)),
                          to_numpy(std::move(items)));
}

// Which of the patterns remain.
nb::object reduce(const array_in<std::uint64_t>& item_offsets, const array_in<std::uint32_t>& items,
                  const array_in<std::uint64_t>& occurrence_offsets,
                  const array_in<std::uint32_t>& occurrences,
                  const matrix_in<std::uint32_t>& not_significant, const nb::dict& arguments) {
    given how(arguments);
    pattern_table table;
    reduction_options options{.compat = compatibility::elephant};
    how.take("winlen", table.window_bins);
    how.take("spectrum", options.kind, spectrum_kind_from);
    how.take("h_subset_filtering", options.h_subset_filtering);
    how.take("k_superset_filtering", options.k_superset_filtering);
    how.take("l_covered_spikes", options.l_covered_spikes);
    how.take("min_spikes", options.min_spikes);
    how.take("min_occ", options.min_occ);
    const call_options call = how.take_call();
    how.check_all_known();
    table.items = copied(items);
    table.occurrences = copied(occurrences);
    table.item_offsets = copied(item_offsets);
    table.occurrence_offsets = copied(occurrence_offsets);
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i + 1 < table.occurrence_offsets.size(); ++i) {
        table.counts.push_back(static_cast<std::uint32_t>(table.occurrence_offsets[i + 1] -
                                                          table.occurrence_offsets[i]));
        list.push_back(i);
    }
    std::vector<signature> unlikely;
    for (std::size_t i = 0; i < not_significant.shape(0); ++i)
        unlikely.push_back({not_significant(i, 0), not_significant(i, 1), not_significant(i, 2)});
    return to_numpy(run_for_result(call, [&](const execution& run) {
        return reduce_patterns(table, list, unlikely, options, run).kept;
    }));
}

// Which of the tests reject at this level.
nb::list rejected(const array_in<double>& p, const std::string& method, double alpha) {
    const auto values = span_of(p);
    nb::list out;
    for (const bool one :
         correct_tests(values, values.size(), correction_from(method), alpha).rejected)
        out.append(one);
    return out;
}

}  // namespace

binned_spikes binned_of(const array_in<std::uint64_t>& offsets, const array_in<std::uint32_t>& bins,
                        std::uint32_t bin_count) {
    return {offsets_of(offsets), copied(bins), bin_count};
}

elephant_mining take_mining(given& how) {
    elephant_mining out;
    pattern_rule& rule = out.options.rules.front();
    how.take("winlen", out.window_bins);
    how.take("min_spikes", rule.min_spikes);
    how.take("min_occ", rule.min_occ);
    how.take("max_spikes", rule.max_spikes);
    how.take("max_occ", out.options.max_occ);
    how.take("min_neu", rule.min_neu);
    how.take("spectrum", out.kind, spectrum_kind_from);
    out.is_impossible =
        (rule.max_spikes > 0 && rule.max_spikes < std::max(rule.min_spikes, rule.min_neu)) ||
        (out.options.max_occ > 0 && out.options.max_occ < rule.min_occ);
    return out;
}

void bind_elephant(nb::module_& m) {
    m.def("elephant_mine", &mine_bins, nb::arg("offsets"), nb::arg("bins"), nb::arg("bin_count"),
          nb::arg("signatures"), nb::arg("given"));
    m.def("elephant_mine_windows", &mine_windows, nb::arg("offsets"), nb::arg("items"),
          nb::arg("unit_count"), nb::arg("given"));
    m.def("elephant_windows", &list_windows, nb::arg("offsets"), nb::arg("bins"),
          nb::arg("bin_count"), nb::arg("winlen"));
    m.def("elephant_reduce", &reduce, nb::arg("item_offsets"), nb::arg("items"),
          nb::arg("occurrence_offsets"), nb::arg("occurrences"), nb::arg("not_significant"),
          nb::arg("given"));
    m.def("elephant_rejected", &rejected, nb::arg("p"), nb::arg("method"), nb::arg("alpha"));
    bind_elephant_surrogates(m);
    bind_elephant_relation(m);
}

}  // namespace synfire::python
