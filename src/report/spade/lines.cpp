#include "report/spade/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "report/text.hpp"

namespace spikeweave::report {
namespace {

constexpr std::size_t number_bytes = 24;  // any 64-bit number and a separator

char* put(char* at, std::string_view text) {
    std::memcpy(at, text.data(), text.size());
    return at + text.size();
}

template <class Integer>
char* put_number(char* at, Integer value) {
    return std::to_chars(at, at + number_bytes, value).ptr;
}

// Writes "36.125": exact to the microsecond, without trailing zeros.
char* put_seconds(char* at, std::int64_t us) {
    constexpr std::int64_t second = 1'000'000;
    if (us < 0) *at++ = '-';
    const std::int64_t size = us < 0 ? -us : us;
    at = put_number(at, size / second);
    std::int64_t rest = size % second;
    if (rest == 0) return at;
    *at++ = '.';
    for (std::int64_t digit = second / 10; rest > 0; digit /= 10) {
        *at++ = static_cast<char>('0' + rest / digit);
        rest %= digit;
    }
    return at;
}

}  // namespace

pattern_lines::pattern_lines(const pattern_axes& axes, pattern_columns columns)
    : axes_(axes), columns_(columns) {
    lags_.reserve(axes.window_bins);
    for (std::uint32_t lag = 0; lag < axes.window_bins; ++lag) {
        lags_.push_back(milliseconds(axes.bin * lag));
        longest_lag_ = std::max(longest_lag_, lags_.back().size());
    }
    for (const std::string& name : axes.unit_names)
        longest_name_ = std::max(longest_name_, name.size());
}

char* pattern_lines::room(std::size_t bytes) {
    if (size_ + bytes > capacity_) {
        const std::size_t more = std::max(2 * capacity_, size_ + bytes);
        std::unique_ptr<char[]> larger(new char[more]);
        if (size_ > 0) std::memcpy(larger.get(), memory_.get(), size_);
        memory_ = std::move(larger);
        capacity_ = more;
    }
    return memory_.get() + size_;
}

void pattern_lines::append(std::uint64_t number, const pattern_table& table, std::size_t i,
                           const signature_test* test, const stability* stable,
                           const pattern_replication* other) {
    const auto items = table.pattern(i);
    std::size_t most = 12 * number_bytes + items.size() * (longest_name_ + longest_lag_ + 2);
    if (columns_.occurrences) most += table.occurrences_of(i).size() * number_bytes;
    char* const begin = room(most + 6 * number_bytes);
    char* at = put_number(begin, number);
    *at++ = '\t';
    at = put_number(at, items.size());
    for (std::size_t k = 0; k < items.size(); ++k) {
        *at++ = k == 0 ? '\t' : ',';
        at = put(at, axes_.unit_names[items[k] / axes_.window_bins]);
    }
    for (std::size_t k = 0; k < items.size(); ++k) {
        *at++ = k == 0 ? '\t' : ',';
        at = put(at, lags_[items[k] % axes_.window_bins]);
    }
    *at++ = '\t';
    at = put_number(at, table.counts[i]);
    *at++ = '\t';
    at = put(at, lags_[table.duration(i)]);
    if (columns_.tests)
        at = put(at,
                 fmt::format("\t{:.6g}\t{:.6g}\t{}", test->p, test->q, yes_no(test->significant)));
    if (columns_.stability)
        at = put(at, fmt::format("\t{:.6g}\t{:.6g}", stable->intensional, stable->extensional));
    if (columns_.replication)
        at = put(at, other == nullptr ? "\t-\t-\t-\t-"
                                      : fmt::format("\t{}\t{:.6g}\t{:.6g}\t{:.6g}", other->count,
                                                    other->expected, other->p, other->q));
    if (columns_.occurrences) {
        char part = '\t';
        for (const std::uint32_t start : table.occurrences_of(i)) {
            *at++ = part;
            part = ',';
            at =
                axes_.timed ? put_seconds(at, axes_.time_of(start).count()) : put_number(at, start);
        }
    }
    *at++ = '\n';
    size_ += static_cast<std::size_t>(at - begin);
}

}  // namespace spikeweave::report
