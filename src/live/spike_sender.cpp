#include "spikeweave/live/spike_sender.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "live/network/zeromq.hpp"
#include "live/sources/sender_messages.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using namespace live;
using sender_clock = std::chrono::steady_clock;

constexpr std::size_t most_kept_frames = 4096;
/// A session that says nothing for so long may be another one, which knows nothing of this sender.
constexpr sender_clock::duration first_silence = std::chrono::seconds{1};
constexpr sender_clock::duration longest_silence_of_session = std::chrono::minutes{1};

std::string tcp_address(const std::string& address) {
    constexpr std::string_view scheme = "spikeweave://";
    if (!address.starts_with(scheme))
        throw io_error(fmt::format("'{}' is no address: expected {}HOST:5600", address, scheme));
    return "tcp://" + address.substr(scheme.size());
}

}  // namespace

class spike_sender::connection {
public:
    connection(std::string address, sender_hello hello, duration patience)
        : address_(std::move(address)),
          patience_(patience),
          hello_(std::move(hello)),
          context_(make_zeromq_context()),
          socket_(make_zeromq_socket(context_, ZMQ_DEALER)) {
        check_hello(hello_);
        set_zeromq_option(socket_, ZMQ_SNDHWM, 0);
        if (zmq_connect(socket_.get(), tcp_address(address_).c_str()) != 0)
            throw io_error(fmt::format("cannot send to {}: {}", address_, zeromq_error()));
    }

    void add_units(std::span<const std::string> names) {
        sender_hello longer = hello_;
        longer.units.insert(longer.units.end(), names.begin(), names.end());
        check_hello(longer);
        hello_ = std::move(longer);
        is_greeted_ = false;  // the units have to be told before their spikes
        has_said_hello_ = false;
    }

    void send(std::span<const std::int64_t> times_us, std::span<const unit_id> units,
              std::int64_t watermark_us) {
        if (has_finished_) throw invalid_argument("the sender has finished");
        check_spikes(times_us, units, watermark_us);
        counts_.spikes += times_us.size();
        // Later spikes may precede the watermark until the last part.
        std::int64_t before_us = watermark_us_.value_or(watermark_us);
        for (const std::int64_t time_us : times_us) before_us = std::min(before_us, time_us);
        for (; times_us.size() > spike_frame::most_spikes;
             times_us = times_us.subspan(spike_frame::most_spikes),
             units = units.subspan(spike_frame::most_spikes))
            add_frame(times_us.first(spike_frame::most_spikes),
                      units.first(spike_frame::most_spikes), before_us, false);
        add_frame(times_us, units, watermark_us, false);
        watermark_us_ = watermark_us;
    }

    void finish() {
        if (!has_finished_) add_frame({}, {}, watermark_us_, true);
        has_finished_ = true;
        wait_until([this] { return kept_.empty(); });
    }

    spike_sender_counts counts() const {
        spike_sender_counts all = counts_;
        all.unacknowledged = kept_.size();
        return all;
    }

private:
    void check_spikes(std::span<const std::int64_t> times_us, std::span<const unit_id> units,
                      std::int64_t watermark_us) const {
        if (times_us.size() != units.size())
            throw invalid_argument(
                fmt::format("there are {} times, but {} units", times_us.size(), units.size()));
        const auto check = [](std::int64_t time_us) {
            if (time_us < -spike_frame::most_time_us || time_us > spike_frame::most_time_us)
                throw invalid_argument(fmt::format("the time {} us is out of range", time_us));
        };
        check(watermark_us);
        std::for_each(times_us.begin(), times_us.end(), check);
        for (const unit_id unit : units)
            if (to_index(unit) >= hello_.units.size())
                throw invalid_argument(fmt::format("a spike of the unit {}, but there are {}",
                                                   to_index(unit), hello_.units.size()));
    }

    void add_frame(std::span<const std::int64_t> times_us, std::span<const unit_id> units,
                   std::optional<std::int64_t> watermark_us, bool is_last) {
        wait_until([this] { return is_greeted_ && kept_.size() < most_kept_frames; });
        kept_.push_back(spike_frame_message(last_ + 1, watermark_us, is_last, times_us, units));
        ++last_;
        ++counts_.frames;
        send_frames();
    }

    void wait_until(const std::function<bool()>& holds) {
        constexpr int between_looks_ms = 20;
        heard_ = sender_clock::now();
        while (true) {
            listen();
            send_frames();
            if (holds()) return;
            const auto now = sender_clock::now();
            if (patience_ > duration{0} && now - heard_ > patience_)
                throw io_error(fmt::format("{} does not answer", address_));
            if (!has_said_hello_ || now - std::max(heard_, said_hello_) > silence_) {
                // Hellos wait for a connection one after another, so they become rarer.
                if (has_said_hello_) silence_ = std::min(2 * silence_, longest_silence_of_session);
                say_hello();
            }
            zmq_pollitem_t item{socket_.get(), 0, ZMQ_POLLIN, 0};
            zmq_poll(&item, 1, between_looks_ms);
        }
    }

    void say_hello() {
        hello_.next = last_ > 0 ? std::optional(last_ + 1 - kept_.size()) : std::nullopt;
        const std::string message = hello_message(hello_);
        zmq_send(socket_.get(), message.data(), message.size(), ZMQ_DONTWAIT);
        said_hello_ = sender_clock::now();
        has_said_hello_ = true;
        is_greeted_ = false;
    }

    void listen() {
        while (received_.receive(socket_, address_)) {
            const sender_answer answer = answer_in(received_.frames());
            heard_ = sender_clock::now();
            silence_ = first_silence;
            if (!answer.error.empty())
                throw io_error(
                    fmt::format("{} refuses what it is sent: {}", address_, answer.error));
            if (!answer.asks_for_hello)
                take(answer);
            else if (is_greeted_)  // otherwise an answer to hello is under way
                say_hello();
        }
    }

    sender_answer answer_in(std::span<const std::string_view> frames) const {
        try {
            return read_answer(frames.front());
        } catch (const invalid_argument& error) {
            throw io_error(
                fmt::format("{} answers what cannot be read: {}", address_, error.what()));
        }
    }

    void take(const sender_answer& answer) {
        if (answer.next && last_ == 0) last_ = *answer.next - 1;
        const std::uint64_t first = last_ + 1 - kept_.size();
        if (std::max(answer.acknowledged, answer.next.value_or(1) - 1) > last_)
            throw io_error(
                fmt::format("{} has frames of this source that were not sent: is there another "
                            "program that sends as '{}'?",
                            address_, hello_.source));
        for (std::uint64_t number = first; number <= answer.acknowledged; ++number)
            kept_.pop_front();
        limit_ = std::max(limit_, answer.acknowledged + answer.credit);
        if (!answer.next) return;
        is_greeted_ = true;
        sent_ = *answer.next - 1;
    }

    void send_frames() {
        const std::uint64_t first = last_ + 1 - kept_.size();
        sent_ = std::max(sent_, first - 1);
        while (is_greeted_ && sent_ < std::min(last_, limit_)) {
            const std::string& message = kept_[sent_ + 1 - first];
            if (zmq_send(socket_.get(), message.data(), message.size(), ZMQ_DONTWAIT) < 0) return;
            ++sent_;
            if (sent_ <= once_sent_) ++counts_.sent_again;
            once_sent_ = std::max(once_sent_, sent_);
        }
    }

    std::string address_;
    duration patience_;
    sender_hello hello_;
    zeromq_context context_;
    zeromq_socket socket_;
    zeromq_message received_{};
    std::deque<std::string> kept_{};  // frames that are not acknowledged, up to the last one
    std::uint64_t last_ = 0;          // the number of the last frame
    std::uint64_t sent_ = 0;          // that of the last frame that was sent since hello
    std::uint64_t once_sent_ = 0;     // that of the last frame that was ever sent
    std::uint64_t limit_ = 0;         // frames up to this one may be sent
    bool has_said_hello_ = false;     // with all units
    bool is_greeted_ = false;         // hello was answered
    bool has_finished_ = false;
    sender_clock::time_point said_hello_{};
    sender_clock::time_point heard_{};
    sender_clock::duration silence_ = first_silence;
    std::optional<std::int64_t> watermark_us_{};
    spike_sender_counts counts_{};
};

spike_sender::spike_sender(const std::string& address, const std::vector<std::string>& unit_names,
                           const spike_sender_options& options)
    : to_(std::make_unique<connection>(
          address,
          sender_hello{.source = options.source, .clock = options.clock, .units = unit_names},
          options.patience)) {}

spike_sender::~spike_sender() = default;

void spike_sender::add_units(std::span<const std::string> names) {
    to_->add_units(names);
}

void spike_sender::send(std::span<const std::int64_t> times_us, std::span<const unit_id> units,
                        std::int64_t watermark_us) {
    to_->send(times_us, units, watermark_us);
}

void spike_sender::finish() {
    to_->finish();
}

spike_sender_counts spike_sender::counts() const {
    return to_->counts();
}

}  // namespace spikeweave
