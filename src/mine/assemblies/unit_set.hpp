#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "spikeweave/core/ids.hpp"

namespace spikeweave::assemblies {

/// A set of units, as bits.
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

}  // namespace spikeweave::assemblies
