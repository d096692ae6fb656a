#include "elephant.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/assess/pattern_reduction.hpp"
#include "spikeweave/mine/elephant_order.hpp"

namespace spikeweave::python {
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
array_out<std::int64_t> to_python(const std::vector<signature_count>& found, spectrum_kind kind) {
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

struct mining_call {
    elephant_mining mining{};
    call_options call{};
};

mining_call take_mining_call(const nb::dict& arguments) {
    keyword_arguments how(arguments);
    mining_call out{.mining = take_mining(how), .call = how.take_call()};
    how.check_all_known();
    return out;
}

struct listed_patterns {
    pattern_table table{};
    elephant_order order{};
};

listed_patterns list_patterns(const spade_windows& windows, const elephant_mining& how,
                              const execution& run) {
    listed_patterns out;
    out.table = mine_patterns(windows, how.options, run).table;
    out.order = order_as_elephant(windows, out.table, how.rule(), run);
    return out;
}

nb::dict mine_bins(const array_in<std::uint64_t>& offsets, const array_in<std::uint32_t>& bins,
                   std::uint32_t bin_count, const nb::dict& arguments) {
    const mining_call how = take_mining_call(arguments);
    const binned_spikes spikes = binned_of(offsets, bins, bin_count);
    listed_patterns found = run_for_result(how.call, [&](const execution& run) {
        if (how.mining.is_impossible) return listed_patterns{};
        return list_patterns(spade_windows(spikes, how.mining.window_bins, run.stop), how.mining,
                             run);
    });
    return to_python(std::move(found.table), std::move(found.order));
}

// How often each signature was found.
array_out<std::int64_t> count_bins(const array_in<std::uint64_t>& offsets,
                                   const array_in<std::uint32_t>& bins, std::uint32_t bin_count,
                                   const nb::dict& arguments) {
    const mining_call how = take_mining_call(arguments);
    const binned_spikes spikes = binned_of(offsets, bins, bin_count);
    const auto found = run_for_result(how.call, [&](const execution& run) {
        if (how.mining.is_impossible) return std::vector<signature_count>{};
        const spade_windows windows(spikes, how.mining.window_bins, run.stop);
        pattern_mining_options options = how.mining.options;
        options.with_occurrences = false;
        return count_signatures(mine_patterns(windows, options, run).table, how.mining.kind);
    });
    return to_python(found, how.mining.kind);
}

// Windows that are given: their patterns occur in windows by number, and none is left out as a part
// of another.
nb::dict mine_windows(const array_in<std::uint64_t>& offsets, const array_in<std::uint32_t>& items,
                      std::size_t unit_count, const nb::dict& arguments) {
    mining_call how = take_mining_call(arguments);
    how.mining.options.drop_window_subsets = false;
    how.mining.options.take_identical_windows = false;
    const spade_windows windows(offsets_of(offsets), copied(items), unit_count,
                                how.mining.window_bins);
    listed_patterns found = run_for_result(how.call, [&](const execution& run) {
        return how.mining.is_impossible ? listed_patterns{}
                                        : list_patterns(windows, how.mining, run);
    });
    return to_python(std::move(found.table), std::move(found.order));
}

// The windows of binned spikes: where each begins, offsets into their items, and these.
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
array_out<std::size_t> reduce(const array_in<std::uint64_t>& item_offsets,
                              const array_in<std::uint32_t>& items,
                              const array_in<std::uint64_t>& occurrence_offsets,
                              const array_in<std::uint32_t>& occurrences,
                              const matrix_in<std::uint32_t>& not_significant,
                              const nb::dict& arguments) {
    keyword_arguments how(arguments);
    pattern_table table;
    reduction_options options{.compat = compatibility::elephant};
    how.take("winlen", table.window_bins);
    how.take("spectrum", options.spectrum, value_named<spectrum_kind>);
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
    std::vector<pattern_signature> unlikely;
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
         correct_tests(values, values.size(), value_named<correction_method>(method), alpha)
             .rejected)
        out.append(one);
    return out;
}

}  // namespace

binned_spikes binned_of(const array_in<std::uint64_t>& offsets, const array_in<std::uint32_t>& bins,
                        std::uint32_t bin_count) {
    return {offsets_of(offsets), copied(bins), bin_count};
}

elephant_mining take_mining(keyword_arguments& how) {
    elephant_mining out;
    pattern_rule& rule = out.options.rules.front();
    how.take("winlen", out.window_bins);
    how.take("min_spikes", rule.min_spikes);
    how.take("min_occ", rule.min_occ);
    how.take("max_spikes", rule.max_spikes);
    how.take("max_occ", out.options.max_occ);
    how.take("min_neu", rule.min_neu);
    how.take("spectrum", out.kind, value_named<spectrum_kind>);
    out.is_impossible =
        (rule.max_spikes > 0 && rule.max_spikes < std::max(rule.min_spikes, rule.min_neu)) ||
        (out.options.max_occ > 0 && out.options.max_occ < rule.min_occ);
    return out;
}

void bind_elephant(nb::module_& m) {
    m.def("elephant_mine", &mine_bins, nb::arg("offsets"), nb::arg("bins"), nb::arg("bin_count"),
          nb::arg("given"));
    m.def("elephant_count", &count_bins, nb::arg("offsets"), nb::arg("bins"), nb::arg("bin_count"),
          nb::arg("given"));
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

}  // namespace spikeweave::python
