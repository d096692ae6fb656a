#include <fmt/format.h>

#include <algorithm>

#include "assess/spade/maxima_tally.hpp"
#include "io/little_endian.hpp"
#include "spikeweave/assess/spade.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

using assess::least_occurrences;

namespace {

class number_reader {
public:
    explicit number_reader(std::string_view bytes) : bytes_(bytes) {}

    bool at_end() const { return bytes_.empty(); }
    std::uint32_t next() {
        if (bytes_.size() < 4) throw invalid_argument("a tally of maxima ends too early");
        const auto value = io::load<std::uint32_t>(bytes_.data());
        bytes_.remove_prefix(4);
        return value;
    }

private:
    std::string_view bytes_;
};

}  // namespace

maxima_tally::maxima_tally(spectrum_kind kind, std::uint32_t window_bins)
    : kind_(kind), durations_(kind == spectrum_kind::size_count ? 1 : window_bins) {
    if (window_bins == 0) throw invalid_argument("a window must have at least one bin");
}

void maxima_tally::count(std::size_t at, std::uint32_t maximum, std::uint32_t surrogates) {
    cell& into = cells_[at];
    const auto place = std::lower_bound(
        into.begin(), into.end(), maximum,
        [](const auto& entry, std::uint32_t value) { return entry.first < value; });
    if (place != into.end() && place->first == maximum)
        place->second += surrogates;
    else
        into.emplace(place, maximum, surrogates);
}

void maxima_tally::add(const occurrence_maxima& surrogate) {
    if (surrogate.durations != durations_ || surrogate.most.size() % durations_ != 0)
        throw invalid_argument(fmt::format("maxima of {} durations do not fit a tally of {}",
                                           surrogate.durations, durations_));
    if (cells_.size() < surrogate.most.size()) cells_.resize(surrogate.most.size());
    for (std::size_t at = 0; at < surrogate.most.size(); ++at)
        if (surrogate.most[at] > 0) count(at, surrogate.most[at], 1);
    ++surrogates_;
}

void maxima_tally::merge(const maxima_tally& other) {
    if (other.kind_ != kind_ || other.durations_ != durations_)
        throw invalid_argument("tallies of different spectra cannot be merged");
    if (cells_.size() < other.cells_.size()) cells_.resize(other.cells_.size());
    for (std::size_t at = 0; at < other.cells_.size(); ++at)
        for (const auto& [maximum, surrogates] : other.cells_[at]) count(at, maximum, surrogates);
    surrogates_ += other.surrogates_;
}

void maxima_tally::list(std::uint32_t size, std::uint32_t min_occ, pvalue_spectrum& into) const {
    for (std::uint32_t lag = 0; lag < durations_; ++lag) {
        const cell& maxima = cells_[std::size_t{size} * durations_ + lag];
        std::uint32_t reached = 0;
        for (const auto& [maximum, surrogates] : maxima)
            if (maximum >= min_occ) reached += surrogates;
        std::uint32_t count = min_occ;
        for (const auto& [maximum, surrogates] : maxima) {
            if (maximum < min_occ) continue;
            for (;; ++count) {
                into.entries.push_back(
                    {{size, count, lag}, reached, static_cast<double>(reached) / surrogates_});
                if (count == maximum) break;
            }
            ++count;
            reached -= surrogates;
        }
    }
}

pvalue_spectrum maxima_tally::make_spectrum(std::uint32_t min_spikes, std::uint32_t max_spikes,
                                            std::uint32_t min_occ) const {
    const pattern_rule rule{.min_occ = min_occ, .min_spikes = min_spikes, .max_spikes = max_spikes};
    return make_spectrum(std::span{&rule, 1});
}

pvalue_spectrum maxima_tally::make_spectrum(std::span<const pattern_rule> rules) const {
    if (surrogates_ == 0) throw invalid_argument("a p-value spectrum needs surrogates");
    for (const pattern_rule& rule : rules)
        if (rule.min_occ == 0 || rule.min_spikes == 0)
            throw invalid_argument("a pattern has at least one spike and one occurrence");
    pvalue_spectrum out{kind_, surrogates_, {}};
    for (std::uint32_t size = 1; size < sizes(); ++size)
        if (const std::uint32_t least = least_occurrences(rules, size); least > 0)
            list(size, least, out);
    return out;
}

std::string maxima_tally::to_bytes() const {
    std::string bytes;
    io::append(bytes, static_cast<std::uint32_t>(kind_));
    io::append(bytes, durations_);
    io::append(bytes, surrogates_);
    io::append(bytes, sizes());
    for (const cell& maxima : cells_) {
        io::append(bytes, static_cast<std::uint32_t>(maxima.size()));
        for (const auto& [maximum, surrogates] : maxima) {
            io::append(bytes, maximum);
            io::append(bytes, surrogates);
        }
    }
    return bytes;
}

maxima_tally maxima_tally::from_bytes(std::string_view bytes) {
    number_reader numbers(bytes);
    const std::uint32_t kind = numbers.next();
    if (kind > static_cast<std::uint32_t>(spectrum_kind::size_count_duration))
        throw invalid_argument("these bytes are not a tally of maxima");
    maxima_tally out(static_cast<spectrum_kind>(kind), numbers.next());
    out.surrogates_ = numbers.next();
    const std::uint64_t cells = std::uint64_t{numbers.next()} * out.durations_;
    if (cells > bytes.size() / 4) throw invalid_argument("a tally of maxima ends too early");
    out.cells_.resize(cells);
    for (cell& maxima : out.cells_) {
        const std::uint32_t entries = numbers.next();
        if (entries > bytes.size() / 8) throw invalid_argument("a tally of maxima ends too early");
        maxima.reserve(entries);
        for (std::uint32_t i = 0; i < entries; ++i) {
            const std::uint32_t maximum = numbers.next();
            maxima.emplace_back(maximum, numbers.next());
        }
    }
    if (!numbers.at_end()) throw invalid_argument("a tally of maxima continues after its end");
    return out;
}

}  // namespace spikeweave
