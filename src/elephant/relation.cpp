#include "spikeweave/elephant/relation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "core/stop.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using bits = std::vector<std::uint64_t>;

bits empty_set(std::size_t size) {
    return bits((size + 63) / 64);
}

bool is_within(const bits& part, const bits& whole) {
    for (std::size_t i = 0; i < part.size(); ++i)
        if ((part[i] & ~whole[i]) != 0) return false;
    return true;
}

void put(bits& set, std::size_t element) {
    set[element / 64] |= std::uint64_t{1} << element % 64;
}

}  // namespace

// Counts subsets in the order in which they come.
class elephant_relation::success_counter {
public:
    success_counter(const elephant_relation& cells, std::span<const std::uint32_t> elements,
                    std::span<const std::uint32_t> others, bool of_columns, std::stop_token stop)
        : cells_(cells),
          elements_(elements),
          wanted_(cells.set_of(others, !of_columns)),
          of_columns_(of_columns),
          stop_(std::move(stop)) {}

    // Adds a subset, given by positions in the elements.
    void add(std::span<const std::uint32_t> places) {
        core::throw_if_stopped(stop_);
        bits subset = empty_set(elements_.size());
        for (const std::uint32_t place : places) put(subset, place);
        if (std::ranges::any_of(failed_, [&](const bits& one) { return is_within(subset, one); }))
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
    const elephant_relation& cells_;
    std::span<const std::uint32_t> elements_;
    bits wanted_;
    bool of_columns_;
    std::stop_token stop_;
    std::vector<bits> failed_;
    std::vector<std::uint32_t> members_;
    std::uint64_t successes_ = 0;
};

elephant_relation::elephant_relation(std::span<const bool> cells, std::size_t rows,
                                     std::size_t columns, const std::stop_token& stop)
    : rows_(rows, empty_set(columns)), columns_(columns, empty_set(rows)) {
    for (std::size_t r = 0; r < rows; ++r) {
        core::throw_if_stopped(stop);
        for (std::size_t c = 0; c < columns; ++c)
            if (cells[r * columns + c]) {
                put(rows_[r], c);
                put(columns_[c], r);
            }
    }
}

// The rows that hold all these columns, or the columns that all these rows hold.
elephant_relation::bit_set elephant_relation::common(std::span<const std::uint32_t> elements,
                                                     bool of_columns) const {
    const std::vector<bit_set>& from = of_columns ? columns_ : rows_;
    const std::size_t size = of_columns ? rows_.size() : columns_.size();
    bit_set out((size + 63) / 64, ~std::uint64_t{0});
    if (size % 64 != 0) out.back() = (std::uint64_t{1} << size % 64) - 1;
    for (const std::uint32_t element : elements) {
        if (element >= from.size())
            throw invalid_argument(fmt::format(
                "rel_matrix: expected a cell for each element of concepts, found none for {}",
                element));
        for (std::size_t i = 0; i < out.size(); ++i) out[i] &= from[element][i];
    }
    return out;
}

elephant_relation::bit_set elephant_relation::set_of(std::span<const std::uint32_t> elements,
                                                     bool of_columns) const {
    const std::size_t size = of_columns ? columns_.size() : rows_.size();
    bit_set out = empty_set(size);
    for (const std::uint32_t element : elements)
        if (element < size) put(out, element);
    return out;
}

elephant_extents elephant_relation::extents(std::span<const std::uint64_t> offsets,
                                            std::span<const std::uint32_t> items,
                                            const std::stop_token& stop) const {
    elephant_extents out;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        core::throw_if_stopped(stop);
        const bit_set found = common(items.subspan(offsets[i], offsets[i + 1] - offsets[i]), true);
        for (std::size_t w = 0; w < found.size(); ++w)
            for (std::uint64_t left = found[w]; left != 0; left &= left - 1)
                out.rows.push_back(static_cast<std::uint32_t>(
                    w * 64 + static_cast<std::size_t>(std::countr_zero(left))));
        out.begins.push_back(out.rows.size());
    }
    return out;
}

std::uint64_t elephant_relation::count_all(std::span<const std::uint32_t> elements,
                                           std::span<const std::uint32_t> others, bool of_columns,
                                           const std::stop_token& stop) const {
    success_counter counter(*this, elements, others, of_columns, stop);
    const std::size_t size = elements.size();
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

std::uint64_t elephant_relation::count_given(std::span<const std::uint32_t> elements,
                                             std::span<const std::uint32_t> others, bool of_columns,
                                             std::span<const std::uint64_t> offsets,
                                             std::span<const std::uint32_t> places,
                                             const std::stop_token& stop) const {
    success_counter counter(*this, elements, others, of_columns, stop);
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
        counter.add(places.subspan(offsets[i], offsets[i + 1] - offsets[i]));
    return counter.successes();
}

}  // namespace spikeweave
