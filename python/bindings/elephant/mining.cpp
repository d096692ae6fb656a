#include "spikeweave/elephant/mining.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <array>
#include <string>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/elephant/reduction.hpp"
#include "spikeweave/elephant/surrogates.hpp"

namespace spikeweave::python {
namespace {

std::vector<std::size_t> offsets_of(const array_in<std::uint64_t>& array) {
    const auto values = span_of(array);
    return {values.begin(), values.end()};
}

// Unit i fires in bins[offsets[i]:offsets[i + 1]].
binned_spikes binned_of(const array_in<std::uint64_t>& offsets, const array_in<std::uint32_t>& bins,
                        std::uint32_t bin_count) {
    return {offsets_of(offsets), copied(bins), bin_count};
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

nb::dict mine_bins(const array_in<std::uint64_t>& offsets, const array_in<std::uint32_t>& bins,
                   std::uint32_t bin_count, const nb::dict& arguments) {
    elephant_mining_options options;
    const call_options call = take_options(arguments, describe(options));
    const binned_spikes spikes = binned_of(offsets, bins, bin_count);
    return to_python(run_for_result(
        call, [&](const execution& run) { return mine_as_elephant(spikes, options, run); }));
}

nb::dict mine_windows(const array_in<std::uint64_t>& offsets, const array_in<std::uint32_t>& items,
                      std::size_t unit_count, const nb::dict& arguments) {
    elephant_mining_options options;
    const call_options call = take_options(arguments, describe(options));
    const spade_windows windows(offsets_of(offsets), copied(items), unit_count,
                                options.window_bins);
    return to_python(run_for_result(
        call, [&](const execution& run) { return mine_as_elephant(windows, options, run); }));
}

nb::dict count_bins(const array_in<std::uint64_t>& offsets, const array_in<std::uint32_t>& bins,
                    std::uint32_t bin_count, const nb::dict& arguments) {
    elephant_mining_options options;
    const call_options call = take_options(arguments, describe(options));
    const binned_spikes spikes = binned_of(offsets, bins, bin_count);
    const auto found = run_for_result(
        call, [&](const execution& run) { return count_as_elephant(spikes, options, run); });
    return table_of(found, "size", &signature_count::size, "count", &signature_count::count,
                    "duration", &signature_count::duration, "patterns", &signature_count::patterns);
}

// Returns the bin in which each window begins, offsets into their items, and these.
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

array_out<std::uint64_t> without_window_subsets(const array_in<std::uint64_t>& offsets,
                                                const array_in<std::uint32_t>& items,
                                                const array_in<std::uint32_t>& counts,
                                                std::uint32_t window_bins) {
    return to_numpy(run_for_result({}, [&](const execution& run) {
        return drop_window_subsets(span_of(offsets), span_of(items), span_of(counts), window_bins,
                                   run);
    }));
}

// Returns the indices of the patterns that remain.
array_out<std::size_t> reduce(const array_in<std::uint64_t>& item_offsets,
                              const array_in<std::uint32_t>& items,
                              const array_in<std::uint64_t>& occurrence_offsets,
                              const array_in<std::uint32_t>& occurrences,
                              const matrix_in<std::uint32_t>& not_significant,
                              const std::array<std::int32_t, 3>& hkl, const nb::dict& arguments) {
    elephant_reduction_options options;
    const call_options call = take_options(arguments, describe(options));
    options.reduction.h_subset_filtering = hkl[0];
    options.reduction.k_superset_filtering = hkl[1];
    options.reduction.l_covered_spikes = hkl[2];
    const pattern_table table{.item_offsets = copied(item_offsets),
                              .items = copied(items),
                              .occurrence_offsets = copied(occurrence_offsets),
                              .occurrences = copied(occurrences)};
    std::vector<pattern_signature> unlikely;
    for (std::size_t i = 0; i < not_significant.shape(0); ++i)
        unlikely.push_back({not_significant(i, 0), not_significant(i, 1), not_significant(i, 2)});
    return to_numpy(run_for_result(call, [&](const execution& run) {
        return reduce_as_elephant(table, unlikely, options, run);
    }));
}

// Says of each test whether it rejects at this level.
nb::list rejected(const array_in<double>& p, const std::string& method, double alpha) {
    const auto values = span_of(p);
    const auto corrected =
        correct_tests(values, values.size(), value_named<correction_method>(method), alpha);
    return list_of(corrected.rejected, [](bool one) { return one; });
}

nb::dict to_python(const pvalue_spectrum& spectrum) {
    return table_of(
        spectrum.entries, "sizes", [](const auto& entry) { return entry.what.size; }, "counts",
        [](const auto& entry) { return entry.what.count; }, "durations",
        [](const auto& entry) { return entry.what.duration; }, "p", &spectrum_entry::p);
}

void make_miner(elephant_surrogate_miner* self, const nb::dict& arguments) {
    elephant_mining_options options;
    const call_options call = take_options(arguments, describe(options));
    new (self) elephant_surrogate_miner(options, call.threads);
}

void add(elephant_surrogate_miner& miner, const array_in<std::uint64_t>& offsets,
         const array_in<std::uint32_t>& bins, std::uint32_t bin_count) {
    binned_spikes surrogate = binned_of(offsets, bins, bin_count);
    run_unlocked({}, [&](const execution& run) { miner.add(std::move(surrogate), run.stop); });
}

nb::dict spectrum(elephant_surrogate_miner& miner) {
    return to_python(
        run_for_result({}, [&](const execution& run) { return miner.spectrum(run.stop); }));
}

// The library makes the surrogates of this spectrum itself.
nb::dict own_spectrum(const shared_spikes& spikes, const nb::dict& arguments) {
    elephant_spectrum_options options;
    const call_options call = take_options(arguments, describe(options));
    return to_python(run_for_result(call, [&](const execution& run) {
        return elephant_spectrum(*spikes.sequence, options, run);
    }));
}

}  // namespace

void bind_elephant(nb::module_& m) {
    m.def("elephant_mine", &mine_bins, nb::arg("offsets"), nb::arg("bins"), nb::arg("bin_count"),
          nb::arg("given"));
    m.def("elephant_count", &count_bins, nb::arg("offsets"), nb::arg("bins"), nb::arg("bin_count"),
          nb::arg("given"));
    m.def("elephant_mine_windows", &mine_windows, nb::arg("offsets"), nb::arg("items"),
          nb::arg("unit_count"), nb::arg("given"));
    m.def("elephant_windows", &list_windows, nb::arg("offsets"), nb::arg("bins"),
          nb::arg("bin_count"), nb::arg("winlen"));
    m.def("elephant_without_window_subsets", &without_window_subsets, nb::arg("offsets"),
          nb::arg("items"), nb::arg("counts"), nb::arg("winlen"));
    m.def("elephant_reduce", &reduce, nb::arg("item_offsets"), nb::arg("items"),
          nb::arg("occurrence_offsets"), nb::arg("occurrences"), nb::arg("not_significant"),
          nb::arg("hkl"), nb::arg("given"));
    m.def("elephant_rejected", &rejected, nb::arg("p"), nb::arg("method"), nb::arg("alpha"));
    nb::class_<elephant_surrogate_miner>(m, "ElephantSurrogateMiner")
        .def("__init__", &make_miner, nb::arg("given"))
        .def("add", &add, nb::arg("offsets"), nb::arg("bins"), nb::arg("bin_count"))
        .def("spectrum", &spectrum)
        .def("close", &elephant_surrogate_miner::close, nb::call_guard<nb::gil_scoped_release>());
    m.def("elephant_own_spectrum", &own_spectrum, nb::arg("spikes"), nb::arg("given"));
}

}  // namespace spikeweave::python
