#include "live/sources/senders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {

senders::senders(std::vector<std::string> unit_names, const std::vector<sender_progress>& known,
                 std::uint64_t least_senders)
    : least_senders_(least_senders), unit_names_(std::move(unit_names)) {
    for (std::size_t unit = 0; unit < unit_names_.size(); ++unit)
        units_.emplace(unit_names_[unit],
                       known_unit{unit_id{static_cast<std::uint32_t>(unit)}, {}});
    for (const sender_progress& one : known) {
        sender& from = senders_.emplace_back();
        from.name = one.name;
        from.expected = one.last + 1;
        from.acknowledged = one.last;
        from.has_finished = one.has_finished;
        clock_ = one.clock;
    }
}

void senders::take(std::string_view connection, std::span<const std::string_view> frames) {
    const std::string from(connection);
    try {
        if (frames.size() != 1)
            throw invalid_argument(fmt::format("a message of {} parts, expected 1", frames.size()));
        if (frames.front().starts_with('{'))
            take_hello(from, read_hello(frames.front()));
        else
            take_frame(from, read_spike_frame(frames.front()));
    } catch (const invalid_argument& error) {
        // It may have been spikes of any time since the last watermark, so those before it do not
        // stand in its block.
        if (!current_.spikes.empty()) finish_block();
        ++current_.unreadable;
        answers_.push_back({from, {.error = error.what()}});
    }
}

// A hello that is refused changes nothing.
void senders::take_hello(const std::string& connection, const sender_hello& hello) {
    const std::size_t index = index_of(hello.source);
    if (index == most_senders)
        throw invalid_argument(fmt::format("there are {} sources already", most_senders));
    check_clock(index, hello.clock);
    check_units(index, hello.units);
    if (index < senders_.size()) check_next(senders_[index], hello.next);
    if (index == senders_.size()) {
        if (index == 0) clock_ = hello.clock;
        senders_.emplace_back().name = hello.source;
        senders_.back().expected = hello.next.value_or(1);
        senders_.back().acknowledged = senders_.back().expected - 1;
    }
    connect(index, connection);
    if (hello.clock != clock_) set_clock(hello.clock);
    set_units(index, hello.units);
    sender& from = senders_[index];
    set_next(from, hello.next);
    note_progress(index);
    sender_answer told = acknowledgement(from);
    told.next = from.expected;
    answers_.push_back({connection, told});
}

std::size_t senders::index_of(const std::string& name) const {
    const auto found = std::find_if(senders_.begin(), senders_.end(),
                                    [&](const sender& one) { return one.name == name; });
    return static_cast<std::size_t>(found - senders_.begin());
}

// The clock can only change when no other source still has the old one.
void senders::check_clock(std::size_t index, const std::string& clock) const {
    if (clock == clock_) return;
    for (std::size_t other = 0; other < senders_.size(); ++other)
        if (other != index && !senders_[other].has_finished)
            throw invalid_argument(
                fmt::format("the clock is '{}', but that of the source '{}' is '{}'", clock,
                            senders_[other].name, clock_));
}

void senders::check_units(std::size_t index, const std::vector<std::string>& names) const {
    std::unordered_set<std::string_view> told;
    std::size_t added = 0;
    for (const std::string& name : names) {
        if (!told.insert(name).second)
            throw invalid_argument(fmt::format("two units have the name '{}'", name));
        const auto found = units_.find(name);
        if (found == units_.end())
            ++added;
        else if (found->second.owner && *found->second.owner != index)
            throw invalid_argument(fmt::format("the unit '{}' is one of the source '{}'", name,
                                               senders_[*found->second.owner].name));
    }
    if (unit_names_.size() + added > most_units)
        throw invalid_argument(fmt::format("there are more than {} units", most_units));
}

// Frames that were lost are counted in sums that must not overflow.
void senders::check_next(const sender& from, std::optional<std::uint64_t> next) {
    constexpr std::uint64_t most_missing = std::uint64_t{1} << 32;
    if (next && *next > from.expected && *next - from.expected > most_missing)
        throw invalid_argument(
            fmt::format("the next frame is {}, but {} is expected", *next, from.expected));
}

// Whoever was connected by this name before has lost the connection, or is another program.
void senders::connect(std::size_t index, const std::string& connection) {
    sender& from = senders_[index];
    from.was_asked = false;
    strangers_.erase(connection);
    if (from.connection == connection) return;
    if (!from.connection.empty()) {
        connections_.erase(from.connection);
        answers_.push_back(
            {from.connection,
             {.error = fmt::format("another program sends as the source '{}'", from.name)}});
    }
    const auto [at, is_new] = connections_.insert_or_assign(connection, index);
    if (!is_new)
        for (sender& other : senders_)
            if (other.connection == connection) other.connection.clear();
    from.connection = connection;
}

void senders::set_clock(const std::string& clock) {
    finish_block();
    current_.begins_epoch = true;
    clock_ = clock;
    watermark_us_.reset();
    last_us_.reset();
    for (sender& one : senders_) {
        one.watermark_us.reset();
        one.ahead.clear();
        one.spikes_ahead = 0;
    }
}

void senders::set_units(std::size_t index, const std::vector<std::string>& names) {
    std::vector<unit_id>& units = senders_[index].units;
    units.clear();
    for (const std::string& name : names) {
        const unit_id next{static_cast<std::uint32_t>(unit_names_.size())};
        const auto [at, is_new] = units_.emplace(name, known_unit{next, index});
        at->second.owner = index;
        if (is_new) {
            unit_names_.push_back(name);
            current_.new_units.push_back(name);
        }
        units.push_back(at->second.id);
    }
}

// A sender that begins anew goes on with the numbers of the one before it.
void senders::set_next(sender& from, std::optional<std::uint64_t> next) {
    if (!next) from.has_finished = false;
    if (!next || *next <= from.expected) return;
    if (!current_.spikes.empty()) finish_block();
    current_.missing += *next - from.expected;
    from.expected = *next;
}

void senders::take_frame(const std::string& connection, const spike_frame& frame) {
    const auto found = connections_.find(connection);
    if (found == connections_.end()) return ask_for_hello(connection);
    sender& from = senders_[found->second];
    if (frame.number < from.expected) {
        ++current_.repeated;
        from.is_to_be_told = true;
        return;
    }
    if (frame.number > from.expected || frame.number > from.limit) {
        if (!std::exchange(from.was_asked, true))
            answers_.push_back({connection, {.asks_for_hello = true}});
        return;
    }
    check_frame(from, frame);
    add_spikes(from, frame);
    ++from.expected;
    from.has_finished = frame.is_last;
    if (frame.watermark_us) {
        last_us_ = frame.watermark_us;
        from.watermark_us = std::max(from.watermark_us.value_or(*last_us_), *last_us_);
        from.ahead.emplace_back(*from.watermark_us, frame.size());
        from.spikes_ahead += frame.size();
    }
    note_progress(found->second);
    raise_watermark();
}

// A window between two times that are far apart would have to be mined for each hop.
void senders::check_frame(const sender& from, const spike_frame& frame) const {
    std::optional<std::int64_t> near_us = last_us_;
    const auto check_leap = [&near_us](std::int64_t time_us) {
        if (!near_us) near_us = time_us;
        if (std::abs(time_us - *near_us) > longest_leap_us)
            throw invalid_argument(
                fmt::format("the time {} us is more than a day from {} us, and the clock has the "
                            "same name",
                            time_us, *near_us));
    };
    if (frame.watermark_us) check_leap(*frame.watermark_us);
    for (std::size_t i = 0; i < frame.size(); ++i) {
        const auto [time_us, unit] = frame[i];
        check_leap(time_us);
        if (to_index(unit) >= from.units.size())
            throw invalid_argument(fmt::format("a spike of the unit {}, but the source '{}' has {}",
                                               to_index(unit), from.name, from.units.size()));
    }
}

// Spikes before a watermark are late, so they do not stand in a block with it. A frame stands in
// one block, which is recorded as a whole or not at all.
void senders::add_spikes(const sender& from, const spike_frame& frame) {
    for (std::size_t i = 0; i < frame.size() && current_.watermark_us; ++i)
        if (frame[i].time_us < *current_.watermark_us) finish_block();
    for (std::size_t i = 0; i < frame.size(); ++i) {
        const auto [time_us, unit] = frame[i];
        current_.spikes.push_back({time_us, from.units[to_index(unit)]});
    }
}

// Null if it is not known for all.
std::optional<std::int64_t> senders::common_watermark() const {
    if (senders_.size() < least_senders_) return {};
    std::optional<std::int64_t> least, most;
    bool all_have_finished = true;
    for (const sender& one : senders_) {
        if (one.watermark_us) most = std::max(most.value_or(*one.watermark_us), *one.watermark_us);
        if (one.has_finished) continue;
        all_have_finished = false;
        if (!one.watermark_us) return {};
        least = std::min(least.value_or(*one.watermark_us), *one.watermark_us);
    }
    return all_have_finished ? most : least;
}

void senders::raise_watermark() {
    const auto common_us = common_watermark();
    if (!common_us || (watermark_us_ && *common_us <= *watermark_us_)) return;
    watermark_us_ = current_.watermark_us = common_us;
    for (sender& one : senders_) {
        const bool had_no_credit = one.spikes_ahead > most_spikes_ahead;
        while (!one.ahead.empty() && one.ahead.front().first <= *common_us) {
            one.spikes_ahead -= one.ahead.front().second;
            one.ahead.pop_front();
        }
        if (had_no_credit) one.is_to_be_told = true;
    }
}

void senders::note_progress(std::size_t index) {
    const sender& from = senders_[index];
    auto& told = current_.senders;
    auto at = std::find_if(told.begin(), told.end(),
                           [&](const sender_progress& one) { return one.name == from.name; });
    if (at == told.end()) at = told.insert(told.end(), {.name = from.name});
    at->clock = clock_;
    at->last = from.expected - 1;
    at->has_finished = from.has_finished;
}

void senders::finish_block() {
    if (!(current_ == source_block{})) complete_.push_back(std::exchange(current_, {}));
}

std::optional<source_block> senders::next_block() {
    if (complete_.empty()) finish_block();
    if (complete_.empty()) return {};
    source_block block = std::move(complete_.front());
    complete_.pop_front();
    ++blocks_;
    for (const sender_progress& one : block.senders)
        unacknowledged_.push_back({blocks_, index_of(one.name), one.last});
    return block;
}

void senders::acknowledge(std::uint64_t blocks) {
    for (; !unacknowledged_.empty() && unacknowledged_.front().block <= blocks;
         unacknowledged_.pop_front()) {
        sender& from = senders_[unacknowledged_.front().sender];
        const std::uint64_t last = unacknowledged_.front().last;
        if (last > from.acknowledged) from.is_to_be_told = true;
        from.acknowledged = last;
    }
}

sender_answer senders::acknowledgement(sender& to) {
    const std::uint64_t more = to.spikes_ahead > most_spikes_ahead ? 0 : credit;
    to.limit = std::max(to.limit, to.acknowledged + more);
    to.is_to_be_told = false;
    return {.acknowledged = to.acknowledged, .credit = more};
}

void senders::ask_for_hello(const std::string& connection) {
    constexpr std::size_t most_strangers = 4096;
    if (strangers_.size() == most_strangers) strangers_.clear();
    if (strangers_.insert(connection).second)
        answers_.push_back({connection, {.asks_for_hello = true}});
}

std::vector<senders::answer> senders::take_answers() {
    for (sender& one : senders_)
        if (one.is_to_be_told && !one.connection.empty())
            answers_.push_back({one.connection, acknowledgement(one)});
    return std::exchange(answers_, {});
}

bool senders::have_finished() const {
    return !senders_.empty() && senders_.size() >= least_senders_ &&
           std::all_of(senders_.begin(), senders_.end(),
                       [](const sender& one) { return one.has_finished; });
}

bool senders::are_connected() const {
    return std::none_of(senders_.begin(), senders_.end(),
                        [](const sender& one) { return one.connection.empty(); });
}

}  // namespace spikeweave::live
