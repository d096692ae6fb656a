#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/doubtful_pairs.hpp"
#include "spikeweave/spikes/positions.hpp"

namespace spikeweave {

class spike_sequence;
/// See spikes/epochs.hpp.
SPIKEWEAVE_API spike_sequence within_epochs(const spike_sequence& spikes,
                                            std::span<const time_span> epochs);

/// All spikes of a recording in time order.
///
/// Times are microseconds since the recording's first sample and never decrease; spikes at the same
/// time keep their input order; no unit has two spikes at the same time. 12 bytes per spike. At
/// most 2^32 - 1 spikes.
class SPIKEWEAVE_API spike_sequence {
public:
    spike_sequence() = default;

    /// @param times_us sorted, as long as `units`
    /// @param units    each below `unit_names.size()`
    /// @param span     holds every spike
    /// @throws invalid_argument if one of these does not hold or a spike is listed twice.
    /// `spike_sequence_builder` makes it
    ///         hold for any input.
    spike_sequence(std::vector<std::int64_t> times_us, std::vector<unit_id> units,
                   std::vector<std::string> unit_names, time_span span);

    std::size_t size() const { return times_us_.size(); }
    bool empty() const { return times_us_.empty(); }
    std::size_t unit_count() const { return unit_names_.size(); }
    std::span<const std::int64_t> times_us() const { return times_us_; }
    std::span<const unit_id> units() const { return units_; }
    /// One name per unit, all different, in natural order ("2" before "10") when they are made by a
    /// builder.
    const std::vector<std::string>& unit_names() const { return unit_names_; }
    const std::string& name(unit_id unit) const { return unit_names_[to_index(unit)]; }
    /// The unit with that name. @throws invalid_argument if there is none; the message lists the
    /// names.
    unit_id unit(std::string_view name) const;
    /// The recorded span: at least from the first spike to the last. With epochs, from the begin of
    /// the first one to the end of the last one.
    time_span span() const { return span_; }
    /// The epochs, half-open [begin, end), if the spikes are those of some epochs only
    /// (`within_epochs`). The time between two epochs is not known, and no occurrence reaches from
    /// one into another.
    std::span<const time_span> epochs() const { return epochs_; }
    /// The intervals of time in which spikes were observed, both ends included: those of the
    /// epochs, or else the recorded span.
    std::vector<time_span> observed() const;
    /// The time during which spikes were observed: the length of the epochs together, or of the
    /// recorded span.
    duration observed_time() const;
    /// Pairs of units that may not be two neurons, as the sorter or its file says. What is made of
    /// a part of the spikes has them, too; then there may be names that no unit has.
    std::span<const doubtful_pair> doubtful_pairs() const { return doubtful_pairs_; }
    void set_doubtful_pairs(std::vector<doubtful_pair> pairs) {
        doubtful_pairs_ = std::move(pairs);
    }
    /// The positions of its units, as far as they are known. They are not compared.
    const unit_places& places() const { return places_; }
    void set_places(unit_places places) { places_ = std::move(places); }

    friend bool operator==(const spike_sequence& a, const spike_sequence& b) {
        return a.times_us_ == b.times_us_ && a.units_ == b.units_ &&
               a.unit_names_ == b.unit_names_ && a.span_ == b.span_ && a.epochs_ == b.epochs_ &&
               a.doubtful_pairs_ == b.doubtful_pairs_;
    }

private:
    friend class spike_sequence_builder;
    friend spike_sequence within_epochs(const spike_sequence& spikes,
                                        std::span<const time_span> epochs);

    std::vector<std::int64_t> times_us_;
    std::vector<unit_id> units_;
    std::vector<std::string> unit_names_;
    time_span span_;
    std::vector<time_span> epochs_;
    std::vector<doubtful_pair> doubtful_pairs_;
    unit_places places_;
};

/// The sequence of spikes in any order: by time, then by unit.
/// @throws invalid_argument as its constructor.
SPIKEWEAVE_API spike_sequence sequence_of(std::vector<std::pair<std::int64_t, unit_id>> spikes,
                                          std::vector<std::string> unit_names, time_span span);

/// The spikes of some units only, in the same recorded span and epochs. The units keep their order.
/// @throws invalid_argument if there is no unit of one of the names.
SPIKEWEAVE_API spike_sequence select_units(const spike_sequence& spikes,
                                           std::span<const std::string> names);

/// The number of times that the times of units begin again, in the order in which spikes are
/// listed, as those of trials or recordings listed one after another do.
struct repeated_begins {
    std::size_t units = 0;  ///< units with a time before the one listed before it
    std::size_t most = 0;   ///< the number of such times of the unit with most
    /// Whether trials explain this: there are few such times, most are near the first time of their
    /// unit, and a tenth of the spikes or more follow them. Spikes in no order at all have many.
    bool look_like_trials = false;
};

/// Looks at spikes in the order in which they are listed.
class SPIKEWEAVE_API listing_order {
public:
    void add(std::int64_t time_us, unit_id unit);

    /// Number of spikes earlier than the one before them.
    std::size_t out_of_order() const { return falls_; }
    /// Number of spikes earlier than the one of their unit before them.
    std::size_t out_of_order_in_units() const;
    repeated_begins begins() const;

private:
    struct listed_unit {
        std::int64_t first_us = INT64_MAX;
        std::int64_t last_us = INT64_MIN;
        std::uint32_t falls = 0;       // times before the one listed before it
        std::uint32_t deep_falls = 0;  // of these, to the first half of what was listed
    };

    std::vector<listed_unit> units_;
    std::size_t spikes_ = 0;
    std::size_t again_ = 0;  // of these, after the first such time of their unit
    std::size_t falls_ = 0;
    std::int64_t last_us_ = INT64_MIN;
};

/// Collects spikes in any order and makes a `spike_sequence` of them, in at most 24 bytes per spike
/// at the peak, 13 if they are in order.
class SPIKEWEAVE_API spike_sequence_builder {
public:
    /// The unit with this label, created if new. Ids are those of this builder; `finish` renumbers
    /// them.
    unit_id unit(std::string_view label);

    void append(std::int64_t time_us, unit_id unit) {
        run_times_.push_back(time_us);
        run_units_.push_back(unit);
        if (run_times_.size() == run_length) close_run();
    }

    std::size_t size() const { return closed_ + run_times_.size(); }

    /// Sorts stably by time, drops exact duplicates (same unit, same microsecond), numbers the
    /// units by the natural order of their labels. Leaves the builder empty.
    /// @param span the recorded span; widened to hold every spike. Default: from the first spike to
    /// the last.
    /// @throws invalid_argument if there are more than 2^32 - 1 spikes.
    spike_sequence finish();
    spike_sequence finish(time_span span);

    /// Number of duplicates dropped by the last `finish`.
    std::size_t duplicates() const { return duplicates_; }
    /// The order in which the spikes of the last `finish` were appended.
    const listing_order& order() const { return order_; }

private:
    // Spikes are held in pages allocated directly from the system, each returned as soon as it is
    // merged. This limits the peak; blocks freed in the middle of a heap would not.
    struct unmap {
        void operator()(std::int64_t* memory) const noexcept;
    };
    struct page {
        std::unique_ptr<std::int64_t[], unmap> memory;
        std::size_t size = 0;

        std::int64_t* times_us() const { return memory.get(); }
        unit_id* units() const;
    };
    struct SPIKEWEAVE_LOCAL run;
    static constexpr std::size_t run_length = std::size_t{1} << 18;
    static constexpr std::size_t page_length = std::size_t{1} << 16;

    void close_run();
    static page new_page();
    std::vector<std::uint32_t> ranks_of_labels() const;
    void merge_into(spike_sequence& out, const std::vector<std::uint32_t>& rank);

    std::vector<std::int64_t> run_times_;
    std::vector<unit_id> run_units_;
    std::vector<page> pages_;
    std::vector<std::size_t> run_starts_;  // index of each sorted run's first page
    std::size_t closed_ = 0;
    std::size_t duplicates_ = 0;
    listing_order order_;
    std::vector<std::string> labels_;
    std::unordered_map<std::string, std::uint32_t> ids_;
};

/// "2" before "10", "n2" before "n10", everything else by bytes, the way people number units.
SPIKEWEAVE_API bool natural_less(std::string_view a, std::string_view b);
/// The indices of names in this order.
SPIKEWEAVE_API std::vector<std::uint32_t> natural_order(std::span<const std::string> names);

}  // namespace spikeweave
