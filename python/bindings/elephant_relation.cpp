#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <stop_token>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "call.hpp"
#include "elephant.hpp"

// What Elephant's private functions and its stability ask of a matrix of windows and items that is
// given to them, whatever it holds.
namespace spikeweave::python {
namespace {

using words = std::vector<std::uint64_t>;

void throw_if_stopped(const std::stop_token& stop) {
    if (stop.stop_requested()) throw cancelled();
}

// Whether part holds nothing that whole does not.
bool within(const words& part, const words& whole) {
    for (std::size_t i = 0; i < part.size(); ++i)
        if ((part[i] & ~whole[i]) != 0) return false;
    return true;
}

void put(words& set, std::size_t element) {
    set[element / 64] |= std::uint64_t{1} << element % 64;
}

// Rows as sets of columns, and the other way round.
class relation {
public:
    relation(const matrix_in<bool>& cells, const std::stop_token& stop)
        : rows_(cells.shape(0), words((cells.shape(1) + 63) / 64)),
          columns_(cells.shape(1), words((cells.shape(0) + 63) / 64)) {
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            throw_if_stopped(stop);
            for (std::size_t c = 0; c < columns_.size(); ++c)
                if (cells(r, c)) {
                    put(rows_[r], c);
                    put(columns_[c], r);
                }
        }
    }

    std::size_t rows() const { return rows_.size(); }
    std::size_t columns() const { return columns_.size(); }

    /// The rows that hold all these columns, or the columns that all these rows hold.
    words common(std::span<const std::uint32_t> elements, bool of_columns) const {
        const std::vector<words>& from = of_columns ? columns_ : rows_;
        const std::size_t size = of_columns ? rows() : columns();
        words out((size + 63) / 64, ~std::uint64_t{0});
        if (size % 64 != 0) out.back() = (std::uint64_t{1} << size % 64) - 1;
        for (const std::uint32_t element : elements) {
            if (element >= from.size())
                throw invalid_argument(
                    "rel_matrix: expected a cell for each element of concepts, "
                    "found none for " +
                    std::to_string(element));
            for (std::size_t i = 0; i < out.size(); ++i) out[i] &= from[element][i];
        }
        return out;
    }
    words set_of(std::span<const std::uint32_t> elements, bool of_columns) const {
        const std::size_t size = of_columns ? columns() : rows();
        words out((size + 63) / 64);
        for (const std::uint32_t element : elements)
            if (element < size) put(out, element);
        return out;
    }

private:
    std::vector<words> rows_;
    std::vector<words> columns_;
};

// Elephant's count of the subsets in the order in which they come.
class success_counter {
public:
    success_counter(const relation& cells, std::span<const std::uint32_t> elements,
                    std::span<const std::uint32_t> others, bool of_columns, std::stop_token stop)
        : cells_(cells),
          elements_(elements),
          wanted_(cells.set_of(others, !of_columns)),
          of_columns_(of_columns),
          stop_(std::move(stop)) {}

    /// A subset by positions in the elements.
    void add(std::span<const std::uint32_t> places) {
        throw_if_stopped(stop_);
        words subset((elements_.size() + 63) / 64);
        for (const std::uint32_t place : places) put(subset, place);
        if (std::ranges::any_of(failed_, [&](const words& one) { return within(subset, one); }))
            return;
        members_.clear();
        for (const std::uint32_t place : places) members_.push_back(elements_[place]);
        if (cells_.common(members_, of_columns_) == wanted_)
            ++successes_;
        else
            failed_.push_back(std::move(subset));
    }
    std::uint64_t successes() const { return successes_; }

private:
    const relation& cells_;
    std::span<const std::uint32_t> elements_;
    words wanted_;
    bool of_columns_;
    std::stop_token stop_;
    std::vector<words> failed_;
    std::vector<std::uint32_t> members_;
    std::uint64_t successes_ = 0;
};

// Successes among all subsets, the small ones first.
std::uint64_t count_all_subsets(success_counter counter, std::size_t size) {
    std::vector<std::uint32_t> chosen;
    for (std::size_t length = 0; length <= size; ++length) {
        chosen.resize(length);
        std::iota(chosen.begin(), chosen.end(), 0);
        for (;;) {
            counter.add(chosen);
            std::size_t last = length;
            while (last > 0 && chosen[last - 1] == size - length + last - 1) --last;
            if (last == 0) break;
            std::iota(chosen.begin() + static_cast<std::ptrdiff_t>(last) - 1, chosen.end(),
                      chosen[last - 1] + 1);
        }
    }
    return counter.successes();
}

// A thread of its own would cost more than a few subsets do.
template <class Count>
std::uint64_t count_stoppably(bool is_short, Count count) {
    if (is_short) return count(std::stop_token{});
    return run_for_result({}, [&](const execution& run) { return count(run.stop); });
}

std::uint64_t count_all(const relation& cells, const array_in<std::uint32_t>& elements,
                        const array_in<std::uint32_t>& others, bool of_columns) {
    return count_stoppably(elements.shape(0) < 7, [&](const std::stop_token& stop) {
        return count_all_subsets({cells, span_of(elements), span_of(others), of_columns, stop},
                                 elements.shape(0));
    });
}

// Successes among the subsets places[offsets[i]:offsets[i + 1]].
std::uint64_t count_given(const relation& cells, const array_in<std::uint32_t>& elements,
                          const array_in<std::uint32_t>& others, bool of_columns,
                          const array_in<std::uint64_t>& offsets,
                          const array_in<std::uint32_t>& places) {
    return count_stoppably(offsets.shape(0) < 100, [&](const std::stop_token& stop) {
        success_counter counter(cells, span_of(elements), span_of(others), of_columns, stop);
        const auto all = span_of(places);
        for (std::size_t i = 0; i + 1 < offsets.shape(0); ++i)
            counter.add(all.subspan(offsets(i), offsets(i + 1) - offsets(i)));
        return counter.successes();
    });
}

struct listed_rows {
    std::vector<std::uint64_t> begins{0};
    std::vector<std::uint32_t> rows{};
};

// The rows in which each pattern occurs.
nb::tuple extents(const relation& cells, const array_in<std::uint64_t>& offsets,
                  const array_in<std::uint32_t>& items) {
    listed_rows out = run_for_result({}, [&](const execution& run) {
        const auto all = span_of(items);
        listed_rows listed;
        for (std::size_t i = 0; i + 1 < offsets.shape(0); ++i) {
            throw_if_stopped(run.stop);
            const words found =
                cells.common(all.subspan(offsets(i), offsets(i + 1) - offsets(i)), true);
            for (std::size_t w = 0; w < found.size(); ++w)
                for (std::uint64_t left = found[w]; left != 0; left &= left - 1)
                    listed.rows.push_back(static_cast<std::uint32_t>(
                        w * 64 + static_cast<std::size_t>(std::countr_zero(left))));
            listed.begins.push_back(listed.rows.size());
        }
        return listed;
    });
    return nb::make_tuple(to_numpy(std::move(out.begins)), to_numpy(std::move(out.rows)));
}

// Patterns as sets of keys, and which of them hold each key.
struct keyed_patterns {
    std::vector<std::vector<std::uint64_t>> keys;
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> holders;
};

std::vector<std::uint64_t> held_by_no_other(keyed_patterns& of, const std::stop_token& stop) {
    std::vector<std::uint64_t> kept;
    for (std::size_t i = 0; i < of.keys.size(); ++i) {
        throw_if_stopped(stop);
        if (of.keys[i].empty()) continue;
        std::vector<std::size_t> others = of.holders[of.keys[i].front()];
        for (const std::uint64_t key : of.keys[i]) {
            std::vector<std::size_t> both;
            std::ranges::set_intersection(others, of.holders[key], std::back_inserter(both));
            others = std::move(both);
        }
        if (others.size() == 1) kept.push_back(i);
    }
    return kept;
}

// Patterns of which no other with as many occurrences is a superset, both counted back from their
// last spikes.
array_out<std::uint64_t> without_window_subsets(const array_in<std::uint64_t>& offsets,
                                                const array_in<std::uint32_t>& items,
                                                const array_in<std::uint32_t>& counts,
                                                std::uint32_t window_bins) {
    if (window_bins == 0) throw invalid_argument("winlen: expected an integer >= 1, found 0");
    return to_numpy(run_for_result({}, [&](const execution& run) {
        keyed_patterns keyed;
        keyed.keys.resize(counts.shape(0));
        for (std::size_t i = 0; i < keyed.keys.size(); ++i) {
            throw_if_stopped(run.stop);
            const auto pattern = span_of(items).subspan(offsets(i), offsets(i + 1) - offsets(i));
            std::uint32_t last = 0;
            for (const std::uint32_t item : pattern) last = std::max(last, item % window_bins);
            for (const std::uint32_t item : pattern) {
                const std::uint32_t key = item + last - 2 * (item % window_bins);
                keyed.keys[i].push_back(std::uint64_t{counts(i)} << 32U | key);
                keyed.holders[keyed.keys[i].back()].push_back(i);
            }
        }
        return held_by_no_other(keyed, run.stop);
    }));
}

}  // namespace

void bind_elephant_relation(nb::module_& m) {
    nb::class_<relation>(m, "ElephantRelation")
        .def(
            "__init__",
            [](relation* self, const matrix_in<bool>& cells) {
                new (self) relation(run_for_result(
                    {}, [&](const execution& run) { return relation(cells, run.stop); }));
            },
            nb::arg("cells"))
        .def("extents", &extents, nb::arg("offsets"), nb::arg("items"))
        .def("count_all", &count_all, nb::arg("elements"), nb::arg("others"), nb::arg("of_columns"))
        .def("count_given", &count_given, nb::arg("elements"), nb::arg("others"),
             nb::arg("of_columns"), nb::arg("offsets"), nb::arg("places"));
    m.def("elephant_without_window_subsets", &without_window_subsets, nb::arg("offsets"),
          nb::arg("items"), nb::arg("counts"), nb::arg("winlen"));
}

}  // namespace spikeweave::python
