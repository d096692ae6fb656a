#include "spikeweave/elephant/mining.hpp"

#include "bindings/core/episodes.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/elephant/reduction.hpp"
#include "spikeweave/elephant/relation.hpp"
#include "spikeweave/elephant/surrogates.hpp"

namespace spikeweave::python {
namespace {

using numbers_in = array_in<std::uint32_t>;
using offsets_in = array_in<std::uint64_t>;

// Offsets, bins and their number: unit i fires in bins[offsets[i]:offsets[i + 1]].
using bins_in = std::tuple<offsets_in, numbers_in, std::uint32_t>;
binned_spikes binned_of(const bins_in& arrays) {
    const auto& [offsets, bins, bin_count] = arrays;
    return {copied(offsets), copied(bins), bin_count};
}

// Pattern i has items[item_offsets[i]:item_offsets[i + 1]], in time order; `order` lists patterns
// and `ranks` the items of a pattern as Elephant does.
nb::dict to_python(elephant_patterns found) {
    pattern_table& table = found.table;
    nb::dict out;
    out["items"] = to_numpy(std::move(table.items));
    out["item_offsets"] = to_numpy(std::move(table.item_offsets));
    out["counts"] = to_numpy(std::move(table.counts));
    out["occurrences"] = to_numpy(std::move(table.occurrences));
    out["occurrence_offsets"] = to_numpy(std::move(table.occurrence_offsets));
    out["order"] = to_numpy(std::move(found.order.patterns));
    out["ranks"] = to_numpy(std::move(found.order.ranks));
    return out;
}
nb::dict to_python(const pvalue_spectrum& spectrum) {
    const auto signature = [](auto member) { return of(&spectrum_entry::what, member); };
    return table_of(spectrum.entries, "sizes", signature(&pattern_signature::size), "counts",
                    signature(&pattern_signature::count), "durations",
                    signature(&pattern_signature::duration), "p", &spectrum_entry::p);
}

nb::dict mine_bins(const bins_in& bins, const nb::dict& given) {
    return to_python(call<binned_spikes>(mine_as_elephant, binned_of(bins), given));
}

nb::dict mine_windows(const offsets_in& offsets, const numbers_in& items, std::size_t unit_count,
                      const nb::dict& given) {
    return to_python(call_with<elephant_mining_options>(given, [&](const auto& options, auto& run) {
        const spade_windows windows(copied(offsets), copied(items), unit_count,
                                    options.window_bins);
        return mine_as_elephant(windows, options, run);
    }));
}

nb::dict count_bins(const bins_in& bins, const nb::dict& given) {
    return table_of(call(count_as_elephant, binned_of(bins), given), "size", &signature_count::size,
                    "count", &signature_count::count, "duration", &signature_count::duration,
                    "patterns", &signature_count::patterns);
}

// Returns the bin in which each window begins, offsets into their items, and these.
nb::tuple list_windows(const bins_in& bins, std::uint32_t window_bins) {
    const binned_spikes spikes = binned_of(bins);
    const spade_windows windows = run_for_result(
        [&](const execution& run) { return spade_windows(spikes, window_bins, run.stop); });
    return nb::make_tuple(to_numpy(windows.starts()), to_numpy(windows.offsets()),
                          to_numpy(windows.all_items()));
}

array_out<std::uint64_t> without_window_subsets(const offsets_in& offsets, const numbers_in& items,
                                                const numbers_in& counts,
                                                std::uint32_t window_bins) {
    if (offsets.shape(0) != counts.shape(0) + 1)
        throw invalid_argument("expected one offset more than counts");
    check_offsets(span_of(offsets), items.shape(0));
    return to_numpy(run_for_result([&](const execution& run) {
        return drop_window_subsets(span_of(offsets), span_of(items), span_of(counts), window_bins,
                                   run);
    }));
}

// Patterns: offsets into their items, these, offsets into their occurrences, and these.
using patterns_in = std::tuple<offsets_in, numbers_in, offsets_in, numbers_in>;

// Returns the indices of the patterns that remain.
array_out<std::size_t> reduce(const patterns_in& patterns,
                              const matrix_in<std::uint32_t>& not_significant,
                              const std::array<std::int32_t, 3>& hkl, const nb::dict& given) {
    const auto& [item_offsets, items, occurrence_offsets, occurrences] = patterns;
    const pattern_table table{.item_offsets = copied(item_offsets),
                              .items = copied(items),
                              .occurrence_offsets = copied(occurrence_offsets),
                              .occurrences = copied(occurrences)};
    std::vector<pattern_signature> unlikely;
    for (std::size_t i = 0; i < not_significant.shape(0); ++i)
        unlikely.push_back({not_significant(i, 0), not_significant(i, 1), not_significant(i, 2)});
    return to_numpy(call_with<elephant_reduction_options>(given, [&](auto& options, auto& run) {
        options.reduction.h_subset_filtering = hkl[0];
        options.reduction.k_superset_filtering = hkl[1];
        options.reduction.l_covered_spikes = hkl[2];
        return reduce_as_elephant(table, unlikely, options, run);
    }));
}

// Returns for each test whether it rejects at this level.
std::vector<bool> rejected(const array_in<double>& p, const std::string& method, double alpha) {
    const auto values = span_of(p);
    return correct_tests(values, values.size(), value_named<correction_method>(method), alpha)
        .rejected;
}

void make_miner(elephant_surrogate_miner* self, const nb::dict& given) {
    elephant_mining_options options;
    const call_options call = take_options(given, describe(options));
    new (self) elephant_surrogate_miner(options, call.threads);
}

void add(elephant_surrogate_miner& miner, const bins_in& bins) {
    binned_spikes surrogate = binned_of(bins);
    run_unlocked([&](const execution& run) { miner.add(std::move(surrogate), run.stop); });
}

nb::dict spectrum(elephant_surrogate_miner& miner) {
    return to_python(
        run_for_result([&](const execution& run) { return miner.spectrum(run.stop); }));
}

// The library makes the surrogates of this spectrum itself.
nb::dict own_spectrum(const shared_spikes& spikes, const nb::dict& given) {
    return to_python(call(elephant_spectrum, *spikes.sequence, given));
}

void make_relation(elephant_relation* self, const matrix_in<bool>& cells) {
    new (self) elephant_relation(run_for_result([&](const execution& run) {
        return elephant_relation(span_of(cells), cells.shape(0), cells.shape(1), run.stop);
    }));
}

// A separate thread would cost more than a few subsets do.
template <class Count>
std::uint64_t count_stoppably(bool is_short, Count count) {
    if (is_short) return count(std::stop_token{});
    return run_for_result([&](const execution& run) { return count(run.stop); });
}

std::uint64_t count_all(const elephant_relation& cells, const numbers_in& elements,
                        const numbers_in& others, bool of_columns) {
    constexpr std::size_t many_elements = 7;
    return count_stoppably(elements.shape(0) < many_elements, [&](const std::stop_token& stop) {
        return cells.count_all(span_of(elements), span_of(others), of_columns, stop);
    });
}

std::uint64_t count_given(const elephant_relation& cells, const numbers_in& elements,
                          const numbers_in& others, bool of_columns, const offsets_in& offsets,
                          const numbers_in& places) {
    constexpr std::size_t many_subsets = 100;
    return count_stoppably(offsets.shape(0) < many_subsets, [&](const std::stop_token& stop) {
        return cells.count_given(span_of(elements), span_of(others), of_columns, span_of(offsets),
                                 span_of(places), stop);
    });
}

// Returns the rows in which each pattern occurs.
nb::tuple extents(const elephant_relation& cells, const offsets_in& offsets,
                  const numbers_in& items) {
    elephant_extents out = run_for_result([&](const execution& run) {
        return cells.extents(span_of(offsets), span_of(items), run.stop);
    });
    return nb::make_tuple(to_numpy(std::move(out.begins)), to_numpy(std::move(out.rows)));
}

}  // namespace

void bind_elephant(nb::module_& m) {
    m.def("elephant_mine", &mine_bins, "bins"_a, "given"_a);
    m.def("elephant_count", &count_bins, "bins"_a, "given"_a);
    m.def("elephant_mine_windows", &mine_windows, "offsets"_a, "items"_a, "unit_count"_a,
          "given"_a);
    m.def("elephant_windows", &list_windows, "bins"_a, "winlen"_a);
    m.def("elephant_without_window_subsets", &without_window_subsets, "offsets"_a, "items"_a,
          "counts"_a, "winlen"_a);
    m.def("elephant_reduce", &reduce, "patterns"_a, "not_significant"_a, "hkl"_a, "given"_a);
    m.def("elephant_rejected", &rejected, "p"_a, "method"_a, "alpha"_a);
    nb::class_<elephant_surrogate_miner>(m, "ElephantSurrogateMiner")
        .def("__init__", &make_miner, "given"_a)
        .def("add", &add, "bins"_a)
        .def("spectrum", &spectrum)
        .def("close", &elephant_surrogate_miner::close, nb::call_guard<nb::gil_scoped_release>());
    m.def("elephant_own_spectrum", &own_spectrum, "spikes"_a, "given"_a);
    nb::class_<elephant_relation>(m, "ElephantRelation")
        .def("__init__", &make_relation, "cells"_a)
        .def("extents", &extents, "offsets"_a, "items"_a)
        .def("count_all", &count_all, "elements"_a, "others"_a, "of_columns"_a)
        .def("count_given", &count_given, "elements"_a, "others"_a, "of_columns"_a, "offsets"_a,
             "places"_a);
}

}  // namespace spikeweave::python
