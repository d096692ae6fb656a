#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/report/spade.hpp"

namespace spikeweave::report {

/// The optional columns of `patterns.tsv`.
struct pattern_columns {
    bool tests = false;
    bool stability = false;
    bool replication = false;
    bool occurrences = false;
};

/// The lines of `patterns.tsv`, formatted fast because there may be millions.
class pattern_lines {
public:
    pattern_lines(const pattern_axes& axes, pattern_columns columns);

    /// Appends pattern `i` of a table to `taken`.
    /// @param test, stable  may be null if there is no such column
    /// @param other  null if the pattern was not tested in other spikes
    void append(std::uint64_t number, const pattern_table& table, std::size_t i,
                const signature_test* test = nullptr, const stability* stable = nullptr,
                const pattern_replication* other = nullptr);
    std::string_view text() const { return {memory_.get(), size_}; }
    void clear() { size_ = 0; }

private:
    char* room(std::size_t bytes);

    pattern_axes axes_;
    pattern_columns columns_;
    std::vector<std::string> lags_;  // in ms, for each bin of a window
    std::size_t longest_name_ = 0;
    std::size_t longest_lag_ = 0;
    std::unique_ptr<char[]> memory_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace spikeweave::report
