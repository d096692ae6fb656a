#include "spikeweave/elephant/relation.hpp"

#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/call.hpp"

namespace spikeweave::python {
namespace {

using numbers_in = array_in<std::uint32_t>;
using offsets_in = array_in<std::uint64_t>;

// A thread of its own would cost more than a few subsets do.
template <class Count>
std::uint64_t count_stoppably(bool is_short, Count count) {
    if (is_short) return count(std::stop_token{});
    return run_for_result({}, [&](const execution& run) { return count(run.stop); });
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
    elephant_extents out = run_for_result({}, [&](const execution& run) {
        return cells.extents(span_of(offsets), span_of(items), run.stop);
    });
    return nb::make_tuple(to_numpy(std::move(out.begins)), to_numpy(std::move(out.rows)));
}

}  // namespace

void bind_elephant_relation(nb::module_& m) {
    nb::class_<elephant_relation>(m, "ElephantRelation")
        .def(
            "__init__",
            [](elephant_relation* self, const matrix_in<bool>& cells) {
                new (self) elephant_relation(run_for_result({}, [&](const execution& run) {
                    return elephant_relation(span_of(cells), cells.shape(0), cells.shape(1),
                                             run.stop);
                }));
            },
            nb::arg("cells"))
        .def("extents", &extents, nb::arg("offsets"), nb::arg("items"))
        .def("count_all", &count_all, nb::arg("elements"), nb::arg("others"), nb::arg("of_columns"))
        .def("count_given", &count_given, nb::arg("elements"), nb::arg("others"),
             nb::arg("of_columns"), nb::arg("offsets"), nb::arg("places"));
}

}  // namespace spikeweave::python
