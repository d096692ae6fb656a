#include "spikeweave/elephant/surrogates.hpp"

#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "bindings/elephant/bins.hpp"

namespace spikeweave::python {
namespace {

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

// The spectrum of surrogates that the library makes itself.
nb::dict own_spectrum(const shared_spikes& spikes, const nb::dict& arguments) {
    elephant_spectrum_options options;
    const call_options call = take_options(arguments, describe(options));
    return to_python(run_for_result(call, [&](const execution& run) {
        return elephant_spectrum(*spikes.sequence, options, run);
    }));
}

}  // namespace

void bind_elephant_surrogates(nb::module_& m) {
    nb::class_<elephant_surrogate_miner>(m, "ElephantSurrogateMiner")
        .def("__init__", &make_miner, nb::arg("given"))
        .def("add", &add, nb::arg("offsets"), nb::arg("bins"), nb::arg("bin_count"))
        .def("spectrum", &spectrum)
        .def("close", &elephant_surrogate_miner::close, nb::call_guard<nb::gil_scoped_release>());
    m.def("elephant_own_spectrum", &own_spectrum, nb::arg("spikes"), nb::arg("given"));
}

}  // namespace spikeweave::python
