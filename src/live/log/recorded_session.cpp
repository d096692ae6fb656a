#include "spikeweave/live/recorded_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "core/stop.hpp"
#include "io/file_error.hpp"
#include "live/log/session_file.hpp"

namespace spikeweave {
namespace live {
namespace {

// Beyond this, numbers of microseconds are no longer exact everywhere: 142 years.
constexpr std::int64_t farthest_us = std::int64_t{1} << 52U;

// The spikes of an epoch by the numbers of the session, and the first and last times told of it.
struct epoch_spikes {
    std::vector<std::int64_t> times_us{};
    std::vector<unit_id> units{};
    std::int64_t begin_us = INT64_MAX;
    std::int64_t end_us = INT64_MIN;

    bool has_times() const { return begin_us <= end_us; }
    void reach(std::int64_t time_us) {
        begin_us = std::min(begin_us, time_us);
        end_us = std::max(end_us, time_us);
    }
    void append(std::span<const spike_event> spikes) {
        for (const auto& [time, unit] : spikes) {
            times_us.push_back(time);
            units.push_back(unit);
        }
    }
};

// Follows the blocks of a session as the session did.
class followed_blocks {
public:
    followed_blocks(session_file& file, session_content& content)
        : file_(&file),
          content_(&content),
          order_(file.header().analysis.order),
          unit_names_(file.header().unit_names) {}

    void run(const execution& run) {
        while (const auto read = file_->next_block()) {
            core::throw_if_stopped(run.stop);
            ++number_;
            take(*read);
        }
        epochs_.back().append(order_.flush());
        content_->duplicates = order_.counts().duplicates;
        place_losses_without_times();
    }

    std::vector<std::string>& unit_names() { return unit_names_; }
    std::vector<epoch_spikes>& epochs() { return epochs_; }

private:
    void take(const recorded_block& read) {
        const source_block& block = read.block;
        unit_names_.insert(unit_names_.end(), block.new_units.begin(), block.new_units.end());
        if (block.begins_epoch) {
            epochs_.back().append(order_.flush());
            epochs_.emplace_back();
        }
        epoch_spikes& epoch = epochs_.back();
        const std::int64_t before_us = epoch.end_us;
        const std::uint64_t late = order_.counts().late;
        session_loss loss{.epoch = epochs_.size() - 1,
                          .missing = block.missing - std::min(block.missing, block.belated),
                          .unreadable = block.unreadable,
                          .unrecorded = read.unrecorded};
        content_->repeated += block.repeated;
        for (const spike_event& spike : block.spikes) {
            check(spike.time_us);
            if (to_index(spike.unit) >= unit_names_.size()) {
                ++loss.unreadable;
            } else {
                order_.add(spike);
                epoch.reach(spike.time_us);
            }
        }
        if (block.watermark_us) {
            check(*block.watermark_us);
            order_.advance(*block.watermark_us);
            epoch.reach(*block.watermark_us);
        }
        epoch.append(order_.take());
        loss.late = order_.counts().late - late;
        if (loss.missing + loss.unreadable + loss.late + loss.unrecorded == 0) return;
        loss.begin_us = before_us == INT64_MIN ? epoch.begin_us : before_us;
        loss.end_us = std::max(loss.begin_us, epoch.end_us);
        content_->losses.push_back(loss);
    }

    void check(std::int64_t time_us) const {
        if (time_us > farthest_us || time_us < -farthest_us)
            throw io::file_error(
                file_->path(), fmt::format("table input, row {}", number_),
                fmt::format("found the time {} us, expected one within 142 years", time_us));
    }

    // A loss before anything was told of an epoch was at its beginning.
    void place_losses_without_times() {
        for (session_loss& loss : content_->losses) {
            const epoch_spikes& epoch = epochs_[loss.epoch];
            if (loss.begin_us == INT64_MAX || loss.end_us == INT64_MIN)
                loss.begin_us = loss.end_us = epoch.has_times() ? epoch.begin_us : 0;
        }
    }

    session_file* file_;
    session_content* content_;
    event_order order_;
    std::vector<std::string> unit_names_;
    std::vector<epoch_spikes> epochs_ = std::vector<epoch_spikes>(1);
    std::int64_t number_ = 0;
};

// The spikes of each epoch with their units in natural order, to the microsecond after the last.
std::vector<spike_sequence> sequences_of(std::vector<epoch_spikes> epochs,
                                         std::span<const std::string> names,
                                         std::span<const unit_id> renumbered) {
    std::vector<std::string> ordered(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) ordered[to_index(renumbered[i])] = names[i];
    std::vector<spike_sequence> sequences;
    for (epoch_spikes& one : epochs) {
        for (unit_id& unit : one.units) unit = renumbered[to_index(unit)];
        const time_span span = one.has_times()
                                   ? time_span{duration{one.begin_us}, duration{one.end_us + 1}}
                                   : time_span{};
        sequences.emplace_back(std::move(one.times_us), std::move(one.units), ordered, span);
    }
    return sequences;
}

std::vector<unit_id> places_in_natural_order(std::span<const std::string> names) {
    std::vector<unit_id> places(names.size());
    std::uint32_t place = 0;
    for (const std::uint32_t i : natural_order(names)) places[i] = unit_id{place++};
    return places;
}

session_armed named(const episode& what, std::span<const std::string> names) {
    session_armed out{.delays = what.delays};
    for (const unit_id unit : what.units) out.units.push_back(names[to_index(unit)]);
    return out;
}

std::vector<session_armed> armed_in(const session_header& header,
                                    std::span<const arming_change> changes,
                                    std::span<const std::string> names) {
    std::vector<session_armed> all;
    for (const auto& [what, fire_at] : header.analysis.armed) {
        all.push_back(named(what, names));
        all.back().fire_at = fire_at;
    }
    for (const auto& pattern : header.analysis.patterns.patterns) {
        session_armed& one = all.emplace_back();
        for (const auto& [unit, lag] : pattern) {
            one.units.push_back(names[to_index(unit)]);
            one.lags.push_back(header.analysis.patterns.bin * lag);
        }
    }
    for (const arming_change& change : changes)
        for (const auto& [number, what, per_minute] : change.armed)
            if (number == all.size()) {
                all.push_back(named(what, names));
                all.back().is_automatic = true;
            }
    return all;
}

std::vector<session_change> changes_of(std::span<const arming_change> decisions,
                                       const std::vector<session_armed>& armed,
                                       std::span<const std::string> names) {
    std::vector<session_change> changes;
    for (const arming_change& one : decisions) {
        session_change common{.epoch = one.from.epoch,
                              .window = one.window,
                              .window_epoch = one.due.epoch,
                              .is_late = one.is_late_change()};
        if (one.from.time_us != INT64_MIN) common.from_us = one.from.time_us;
        const auto add = [&](std::string_view word, session_armed what,
                             std::optional<std::size_t> number, std::optional<double> per_minute) {
            session_change& added = changes.emplace_back(common);
            added.change = word;
            added.what = std::move(what);
            added.number = number;
            added.per_minute = per_minute;
        };
        for (const auto& [number, what, per_minute] : one.armed)
            add("armed", armed.at(number), number, per_minute);
        for (const std::size_t number : one.disarmed) add("disarmed", armed.at(number), number, {});
        for (const refused_episode& refused : one.refused)
            add(reason_of(refused), named(refused.what, names), {}, refused.per_minute);
    }
    return changes;
}

void read_detections(session_file& file, session_content& content) {
    for (std::int64_t number = 1; auto read = file.next_detection(); ++number) {
        const bool is_known = read->armed < content.armed.size() && read->epoch >= 0 &&
                              static_cast<std::size_t>(read->epoch) < content.epochs.size();
        if (!is_known || read->times.empty() ||
            read->times.size() > content.armed[read->armed].units.size())
            throw io::file_error(file.path(), fmt::format("table detection, row {}", number),
                                 "it does not fit what was armed");
        content.detections.push_back({static_cast<std::uint64_t>(read->epoch), read->armed,
                                      std::move(read->times), to_string(read->suppressed)});
    }
}

bool is_episode(const episode& what) {
    return what.units.size() == what.delays.size() + 1 &&
           std::ranges::all_of(what.delays, [](const delay_interval& delay) {
               return delay.low >= duration{0} && delay.low < delay.high;
           });
}

bool comes_first(const counted_episode& one, const counted_episode& other) {
    return std::pair(one.what.size(), one.what) < std::pair(other.what.size(), other.what);
}

std::string text_of(const order_options& order) {
    if (order.policy == order_policy::source) return "source";
    if (order.policy == order_policy::block) return "block";
    return "lateness: " + format_duration(order.lateness);
}

// Options that stand under the same names in several groups have the same values.
parameter_list asked_in(session_options analysis) {
    parameter_list all{{"order", text_of(analysis.order)}};
    const auto add = [&all](const option_list& list) {
        for (auto& one : parameters_of(list))
            if (std::ranges::find(all, one.first, &parameter_list::value_type::first) == all.end())
                all.push_back(std::move(one));
    };
    if (analysis.windows) add(describe(*analysis.windows));
    add(describe(analysis.detector));
    add(describe(analysis.triggers));
    if (analysis.arming) add(describe(*analysis.arming));
    return all;
}

}  // namespace
}  // namespace live

struct recorded_session::state {
    explicit state(const std::filesystem::path& path) : file(path) {}

    live::session_file file;
    session_content content{};
    std::vector<std::string> names{};  // by the numbers of the session
    std::vector<unit_id> renumbered{};

    session_window window_of(const live::recorded_window& read, std::int64_t number) const;
};

session_window recorded_session::state::window_of(const live::recorded_window& read,
                                                  std::int64_t number) const {
    const auto fail = [&](std::string_view why) {
        throw io::file_error(file.path(), fmt::format("table window, row {}", number), why);
    };
    const auto [place, begin, end] = read.bounds;
    if (read.epoch < 0 || static_cast<std::size_t>(read.epoch) >= content.epochs.size())
        fail("there is no such epoch");
    if (begin.count() < -live::farthest_us || begin >= end || end.count() > live::farthest_us)
        fail("its times are no interval within 142 years");
    session_window window{.epoch = static_cast<std::uint64_t>(read.epoch),
                          .mined = {.bounds = read.bounds, .spikes = read.spikes},
                          .has_gap = read.has_gap};
    episode_table& table = window.mined.table;
    table.threshold = read.threshold;
    table.complete_to_size = read.complete_to;
    if (content.windows) table.ties = content.windows->mining.ties;
    try {
        for (const nlohmann::json& one : nlohmann::json::parse(read.episodes)) {
            episode what = live::episode_of(one.at(1).dump(), names);
            if (!live::is_episode(what))
                fail("found an episode without its units, or a wrong delay");
            for (unit_id& unit : what.units) unit = renumbered[to_index(unit)];
            table.episodes.push_back({std::move(what), one.at(0).get<std::uint64_t>()});
        }
    } catch (const nlohmann::json::exception&) {
        fail("found damaged JSON");
    } catch (const std::invalid_argument& error) {
        fail(io::shown(error.what()));
    }
    std::ranges::sort(table.episodes, live::comes_first);
    return window;
}

recorded_session::recorded_session(const std::filesystem::path& path, const execution& run)
    : state_(std::make_unique<state>(path)) {
    live::session_file& file = state_->file;
    session_content& content = state_->content;
    live::followed_blocks blocks(file, content);
    blocks.run(run);
    state_->names = std::move(blocks.unit_names());
    state_->renumbered = live::places_in_natural_order(state_->names);
    content.epochs =
        live::sequences_of(std::move(blocks.epochs()), state_->names, state_->renumbered);
    const live::session_options& analysis = file.header().analysis;
    const std::vector<live::arming_change> changes = file.arming_changes(state_->names);
    content.armed = live::armed_in(file.header(), changes, state_->names);
    content.changes = live::changes_of(changes, content.armed, state_->names);
    content.windows = analysis.windows;
    content.asked = live::asked_in(analysis);
    content.program = file.program();
    content.warnings = file.warnings();
    content.has_ended = file.counts_at_end().has_value();
    live::read_detections(file, content);
}

recorded_session::~recorded_session() = default;
recorded_session::recorded_session(recorded_session&&) noexcept = default;
recorded_session& recorded_session::operator=(recorded_session&&) noexcept = default;

const session_content& recorded_session::content() const {
    return state_->content;
}

std::size_t recorded_session::window_count() const {
    return static_cast<std::size_t>(state_->file.windows());
}

void recorded_session::each_window(const std::function<void(session_window&&)>& take,
                                   std::size_t every, const execution& run) {
    for (std::size_t number = 0; const auto read = state_->file.next_window(); ++number) {
        core::throw_if_stopped(run.stop);
        if (number % every == 0)
            take(state_->window_of(*read, static_cast<std::int64_t>(number) + 1));
    }
}

}  // namespace spikeweave
