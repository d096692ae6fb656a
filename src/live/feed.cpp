#include "spikeweave/live/feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <utility>

#include "live/run_source.hpp"
#include "live/sources/arrivals.hpp"
#include "live/sources/open_source.hpp"
#include "live/sources/source.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/memory.hpp"

namespace spikeweave {
namespace {

using live::event_taker;
using live::opened_source;
using live::source_block;

using live::source_kind;
using std::chrono::steady_clock;

// The work of the thread.
using feed_work = std::function<void(const event_taker& take, const execution& run,
                                     const std::stop_token& abort)>;

void analyse(opened_source opened, const live_options& options, const event_taker& take,
             const execution& run, const std::stop_token& abort) {
    take(live::run_source(std::move(opened), options, {.take = take}, run, abort));
}

void refuse_sessions(const live_options& options) {
    if (options.verify) throw invalid_argument("verify", "the source is no recorded session");
    if (!options.resume.empty()) throw invalid_argument("resume", "the source is no stream");
}

// Spikes that come from the caller.
class given_spikes : public live::source {
public:
    /// @param wait  sets since when a block may have come
    given_spikes(
        std::vector<std::string> unit_names,
        std::function<std::optional<source_block>(steady_clock::time_point& arrived_after)> wait)
        : unit_names_(std::move(unit_names)), wait_(std::move(wait)) {}

    const std::vector<std::string>& unit_names() const override { return unit_names_; }
    std::optional<source_block> next() override { return wait_(arrived_after_); }
    steady_clock::time_point arrived_after() const override { return arrived_after_; }

private:
    std::vector<std::string> unit_names_;
    std::function<std::optional<source_block>(steady_clock::time_point&)> wait_;
    steady_clock::time_point arrived_after_{};
};

}  // namespace

struct live_feed::state {
    std::uint64_t most_memory;
    std::unordered_map<std::string, unit_id> ids{};  // of units that are given
    std::mutex guard{};                              // for what follows, up to `failure`
    std::condition_variable changed{};
    std::deque<live_event> events{};
    std::optional<source_block> block{};
    steady_clock::time_point given_at = steady_clock::now();  // the last block
    steady_clock::time_point given_after{};  // when the one before `block` was given
    live::arrival_bound arrived{};
    bool wants_block = false;
    bool is_asked = false;   // the caller knows that a block is wanted, and looks for spikes
    bool has_ended = false;  // no block follows
    bool drops_events = false;
    bool is_over = false;
    std::exception_ptr failure{};
    std::stop_source stopping{};
    std::stop_source aborting{};
    std::jthread thread{};  // the last member: it ends before what it uses

    explicit state(const live_options& options)
        : most_memory(options.window.mining.max_memory_bytes) {}
    ~state() {
        aborting.request_stop();
        stop();
    }
    state(const state&) = delete;
    state& operator=(const state&) = delete;

    template <class Work>
    void start(Work work) {
        thread = std::jthread([this, work = std::move(work)]() mutable { run(std::ref(work)); });
    }
    void run(const feed_work& work);
    void run_guarded(const feed_work& work);
    void give(live_event event);
    std::optional<source_block> wait_for_block(steady_clock::time_point& arrived_after);
    bool waits_for_block() const { return wants_block && !block && !has_ended; }
    source_block with_ids(const live_block& given);
    void stop();
};

void live_feed::state::run(const feed_work& work) {
    std::exception_ptr error;
    try {
        run_guarded(work);
    } catch (...) {
        error = std::current_exception();
    }
    const std::lock_guard lock(guard);
    failure = std::move(error);  // so that its last owner is who asks for events
    is_over = true;
    changed.notify_all();
}

// A stop before the first block ends the analysis without a result.
void live_feed::state::run_guarded(const feed_work& work) {
    const memory_guard memory(
        most_memory, aborting.get_token(),
        {.advice = "a larger min_count, a max_size or a shorter window gives fewer episodes"});
    try {
        work([this](live_event event) { give(std::move(event)); }, {.stop = stopping.get_token()},
             memory.stop());
    } catch (const cancelled&) {
        memory.check();
        if (!stopping.stop_requested()) throw;
    }
}

void live_feed::state::give(live_event event) {
    std::unique_lock lock(guard);
    changed.wait(lock, [this] { return drops_events || events.size() < most_waiting; });
    if (drops_events) return;
    events.push_back(std::move(event));
    changed.notify_all();
}

// In silence a block may come while an empty one is analysed. A caller that has been asked for
// spikes and gives none has none. What it gives at once may have waited since it gave the block
// before.
std::optional<source_block> live_feed::state::wait_for_block(
    steady_clock::time_point& arrived_after) {
    std::unique_lock lock(guard);
    wants_block = true;
    changed.notify_all();
    const auto end = steady_clock::now() + live::longest_silence;
    while (!has_ended && !block) {
        if (steady_clock::now() >= end) return source_block{};
        changed.wait_for(lock, live::arrival_bound::between_looks,
                         [this] { return has_ended || block; });
        arrived.looked(is_asked && !block);
    }
    wants_block = is_asked = false;
    arrived.begin_read();
    arrived_after = std::max(given_after, arrived.since());
    return std::exchange(block, {});
}

source_block live_feed::state::with_ids(const live_block& given) {
    if (given.times_us.size() != given.units.size())
        throw invalid_argument(fmt::format("{} times for {} units of spikes", given.times_us.size(),
                                           given.units.size()));
    for (const unit_id unit : given.units)
        if (to_index(unit) >= given.unit_names.size())
            throw invalid_argument(fmt::format("a spike is of unit {}, but there are {} names",
                                               to_index(unit), given.unit_names.size()));
    source_block out{.watermark_us = given.watermark_us};
    std::vector<unit_id> id_of;
    id_of.reserve(given.unit_names.size());
    for (const std::string& name : given.unit_names) {
        const unit_id next{static_cast<std::uint32_t>(ids.size())};
        const auto [known, is_new] = ids.try_emplace(name, next);
        if (is_new) out.new_units.push_back(name);
        id_of.push_back(known->second);
    }
    out.spikes.reserve(given.units.size());
    for (std::size_t i = 0; i < given.units.size(); ++i)
        out.spikes.push_back({given.times_us[i], id_of[to_index(given.units[i])]});
    return out;
}

void live_feed::state::stop() {
    stopping.request_stop();
    const std::lock_guard lock(guard);
    drops_events = has_ended = true;
    events.clear();
    changed.notify_all();
}

live_feed::live_feed(std::string from, const live_options& options)
    : state_(std::make_unique<state>(options)) {
    check_options(options);
    state_->start([from = std::move(from), options](const event_taker& take, const execution& run,
                                                    const std::stop_token& abort) {
        run_live(from, options, take, run, abort);
    });
}

live_feed::live_feed(spike_sequence spikes, const live_options& options)
    : state_(std::make_unique<state>(options)) {
    live::check_live_options(options, source_kind::played);
    refuse_sessions(options);
    state_->start([spikes = std::move(spikes), options](const event_taker& take,
                                                        const execution& run,
                                                        const std::stop_token& abort) mutable {
        analyse(live::open_spikes(std::move(spikes), options, run.stop), options, take, run, abort);
    });
}

live_feed::live_feed(const live_options& options) : state_(std::make_unique<state>(options)) {
    live::check_live_options(options, source_kind::blocks);
    refuse_sessions(options);
    const std::vector<std::string> names = live::units_of_armed(options);
    for (const std::string& name : names)
        state_->ids.emplace(name, unit_id{static_cast<std::uint32_t>(state_->ids.size())});
    opened_source opened = live::armed_before(options, names);
    opened.from = std::make_unique<given_spikes>(
        names, [from = state_.get()](steady_clock::time_point& arrived_after) {
            return from->wait_for_block(arrived_after);
        });
    state_->start([opened = std::move(opened), options](const event_taker& take,
                                                        const execution& run,
                                                        const std::stop_token& abort) mutable {
        analyse(std::move(opened), options, take, run, abort);
    });
}

live_feed::~live_feed() = default;
live_feed::live_feed(live_feed&&) noexcept = default;
live_feed& live_feed::operator=(live_feed&&) noexcept = default;

std::optional<live_event> live_feed::next(std::chrono::milliseconds patience) {
    state& now = *state_;
    std::unique_lock lock(now.guard);
    now.changed.wait_for(lock, patience, [&] {
        return !now.events.empty() || now.is_over || now.waits_for_block();
    });
    if (now.events.empty()) {
        if (now.failure) std::rethrow_exception(std::exchange(now.failure, nullptr));
        return {};
    }
    live_event event = std::move(now.events.front());
    now.events.pop_front();
    now.changed.notify_all();
    return event;
}

bool live_feed::is_over() const {
    const std::lock_guard lock(state_->guard);
    return state_->is_over && state_->events.empty() && !state_->failure;
}

bool live_feed::wants_block() const {
    const std::lock_guard lock(state_->guard);
    state_->is_asked = state_->waits_for_block() && state_->events.empty();
    return state_->is_asked;
}

// Windows may have been mined since a block was wanted.
void live_feed::add(const live_block& block) {
    const std::lock_guard lock(state_->guard);
    if (!state_->waits_for_block())
        throw invalid_argument("the analysis does not want a block now");
    state_->block = state_->with_ids(block);
    // The caller may have been interrupted since.
    state_->given_after = std::exchange(state_->given_at, steady_clock::now());
    state_->changed.notify_all();
}

void live_feed::end() {
    const std::lock_guard lock(state_->guard);
    state_->has_ended = true;
    state_->changed.notify_all();
}

void live_feed::stop() {
    state_->stop();
}

}  // namespace spikeweave
