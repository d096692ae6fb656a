#include "live/stand_in/open_ephys_gui.hpp"

#include <fmt/format.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "live/sources/open_ephys_stand_in.hpp"
#include "live/stand_in/publisher.hpp"

namespace spikeweave::live::stand_in {
namespace {

using clock = std::chrono::steady_clock;

struct spike {
    std::int64_t number;
    std::int64_t sample;
    std::int64_t unit;
};

struct ttl {
    int line;
    bool is_on;
};

std::string name_of(const spike& one) {
    return fmt::format("E{}", one.unit);
}

/// Spikes at equal distances, of units that follow each other in leaps, so that each unit has the
/// same distance between its spikes and none has two at a time.
class spike_train {
public:
    explicit spike_train(const gui_options& options) : options_(options) {
        while (std::gcd(leap_, options.units) != 1) ++leap_;
    }

    /// Adds the spikes that come next and are before this sample.
    void add_until(std::int64_t sample, std::vector<spike>& to) {
        for (; at_ < static_cast<double>(sample); ++number_) {
            to.push_back(
                {number_, static_cast<std::int64_t>(at_), number_ * leap_ % options_.units});
            at_ += static_cast<double>(options_.rate_hz) / spikes_per_s();
        }
    }

private:
    double spikes_per_s() const {
        const std::int64_t in_second = static_cast<std::int64_t>(at_) % options_.rate_hz;
        const bool in_burst = options_.burst_per_s > 0 && 10 * in_second < options_.rate_hz;
        return in_burst ? options_.burst_per_s : options_.spikes_per_s;
    }

    gui_options options_;
    std::int64_t leap_ = 617;
    std::int64_t number_ = 0;
    double at_ = 0;
};

message ttl_of_interface(std::uint64_t number, std::int64_t sample, const ttl& event) {
    std::string payload(10, '\0');
    payload[0] = static_cast<char>(event.line);
    payload[1] = static_cast<char>(event.is_on ? 1 : 0);
    return {event_topic,
            fmt::format(R"({{"message_num":{},"type":"event","content":{{"stream":"probe",)"
                        R"("source_node":100,"type":3,"sample_num":{}}},"data_size":10,)"
                        R"("timestamp":0}})",
                        number, sample),
            payload};
}

message ttl_of_broadcaster(std::int64_t sample, double rate_hz, const ttl& event) {
    return {std::string(2, '\0'),
            fmt::format(R"({{"event_type":"ttl","stream":"probe","source_node":100,)"
                        R"("sample_rate":{},"channel_name":"Network Events output",)"
                        R"("sample_number":{},"line":{},"state":{}}})",
                        rate_hz, sample, event.line, event.is_on ? 1 : 0)};
}

std::optional<publisher> opened(const std::string& address, std::int64_t high_water_mark) {
    if (address.empty()) return std::nullopt;
    return std::optional<publisher>(std::in_place, address, static_cast<int>(high_water_mark));
}

/// The plugin Network Events: one request at a time, which it answers at once.
class network_events {
public:
    explicit network_events(const std::string& address) : socket_(ZMQ_REP) {
        socket_.bind(address);
    }

    const std::string& address() const { return socket_.address(); }
    bool is_acquiring() const { return is_acquiring_; }

    void answer_requests() {
        std::array<char, 256> request{};
        for (int size = 0;
             (size = zmq_recv(socket_.get(), request.data(), request.size(), ZMQ_DONTWAIT)) >= 0;) {
            const std::string text(request.data(),
                                   std::min(static_cast<std::size_t>(size), request.size()));
            const std::string reply = answer(text);
            zmq_send(socket_.get(), reply.data(), reply.size(), 0);
        }
    }

    /// The TTL events that were asked for since the last call.
    std::vector<ttl> take_events() { return std::exchange(events_, {}); }

private:
    std::string answer(const std::string& request) {
        if (request == "StartAcquisition") is_acquiring_ = true;
        if (request == "StopAcquisition") is_acquiring_ = is_recording_ = false;
        if (request == "StartRecord") is_acquiring_ = is_recording_ = true;
        if (request == "StopRecord") is_recording_ = false;
        if (request == "StartAcquisition") return "StartedAcquisition";
        if (request == "StopAcquisition") return "StoppedAcquisition";
        if (request == "StartRecord") return "StartedRecording";
        if (request == "StopRecord") return "StoppedRecording";
        if (request == "IsAcquiring") return is_acquiring_ ? "1" : "0";
        if (request == "IsRecording") return is_recording_ ? "1" : "0";
        ttl event{};
        int state = 0;
        if (std::sscanf(request.c_str(), "TTL Line=%d State=%d", &event.line, &state) == 2) {
            event.is_on = state != 0;
            if (is_acquiring_) events_.push_back(event);
            return fmt::format("TTLHandled: Channel={} on={}", event.line, state);
        }
        return "NotHandled";
    }

    bound_socket socket_;
    bool is_acquiring_ = false;
    bool is_recording_ = false;
    std::vector<ttl> events_{};
};

}  // namespace

struct open_ephys_gui::state {
    gui_options options;
    std::optional<publisher> zmq_interface;
    std::optional<publisher> event_broadcaster;
    std::optional<network_events> control{};
    gui_counts counts{};
    std::uint64_t message_number = 0;
    std::int64_t begin = 0;       // of the block, in samples
    std::vector<spike> spikes{};  // of the block
    std::vector<ttl> ttls{};

    explicit state(const gui_options& how)
        : options(how),
          zmq_interface(opened(how.zmq_interface, how.high_water_mark)),
          event_broadcaster(opened(how.event_broadcaster, how.high_water_mark)) {
        if (!how.network_events.empty()) control.emplace(how.network_events);
    }

    // Each plugin processes the whole block before the next one does.
    void send_to_interface(const on_spike& tell) {
        for (const ttl& event : ttls)
            zmq_interface->send(ttl_of_interface(message_number++, begin, event));
        for (const spike& one : spikes) {
            const std::uint64_t number = message_number++;
            if (options.unsent_every > 0 && (one.number + 1) % options.unsent_every == 0)
                ++counts.unsent;
            else if (!zmq_interface->send(spike_message(number, one.sample, name_of(one))))
                ++counts.dropped_spikes;
        }
        if (tell)
            for (const spike& one : spikes) tell(one.sample);
        send_data();
    }

    void send_data() {
        const auto rate_hz = static_cast<double>(options.rate_hz);
        for (std::int64_t channel = 0; channel < options.channels; ++channel) {
            message data = data_message(message_number++, begin, options.block_samples, rate_hz,
                                        "probe", channel);
            data.back().resize(sizeof(float) * static_cast<std::size_t>(options.block_samples));
            zmq_interface->send(data);
        }
    }

    void send_to_broadcaster(const on_spike& tell) {
        const auto rate_hz = static_cast<double>(options.rate_hz);
        for (const ttl& event : ttls)
            event_broadcaster->send(ttl_of_broadcaster(begin, rate_hz, event));
        for (const spike& one : spikes) {
            if (tell) tell(one.sample);
            event_broadcaster->send(broadcast_message(one.sample, name_of(one), rate_hz));
        }
    }

    void send_block(spike_train& train, const on_spike& tell) {
        spikes.clear();
        train.add_until(begin + options.block_samples - options.held_back_samples, spikes);
        counts.spikes += spikes.size();
        // The Spike Detector goes through a block electrode by electrode.
        std::stable_sort(spikes.begin(), spikes.end(), [](const spike& one, const spike& other) {
            return one.unit < other.unit;
        });
        ttls.clear();
        if (control) ttls = control->take_events();
        if (zmq_interface) send_to_interface(tell);
        if (event_broadcaster) send_to_broadcaster(zmq_interface ? on_spike{} : tell);
    }

    void wait_until(clock::time_point time) {
        constexpr std::chrono::milliseconds between_requests{1};
        while (control && clock::now() + between_requests < time) {
            control->answer_requests();
            std::this_thread::sleep_for(between_requests);
        }
        std::this_thread::sleep_until(time);
    }

    // Returns when all data have been sent, or acquisition is stopped.
    void acquire(const std::atomic<bool>& stop, const on_spike& tell) {
        ++counts.acquisitions;
        message_number = 0;
        spike_train train(options);
        const auto rate_hz = static_cast<double>(options.rate_hz);
        const auto samples = static_cast<std::int64_t>(options.seconds * rate_hz);
        const auto began = clock::now();
        for (begin = 0; begin < samples; begin += options.block_samples) {
            const std::chrono::duration<double> passed(
                static_cast<double>(begin + options.block_samples) / rate_hz);
            wait_until(began + std::chrono::duration_cast<clock::duration>(passed));
            if (stop || (control && !control->is_acquiring())) return;
            send_block(train, tell);
        }
    }

    // What was dropped at the end is noticed only when something follows, for which there is room
    // after a while.
    void send_last_data() {
        constexpr std::chrono::milliseconds until_there_is_room{500};
        std::this_thread::sleep_for(until_there_is_room);
        if (zmq_interface) send_data();
    }

    void run(const std::atomic<bool>& stop, const on_spike& tell) {
        constexpr int between_looks_ms = 20;
        publisher* const listened_to = zmq_interface ? &*zmq_interface : &*event_broadcaster;
        while (options.waits_for_subscriber && !stop &&
               !listened_to->wait_for_subscriber(between_looks_ms)) {
        }
        if (!control) {
            acquire(stop, tell);
            return send_last_data();
        }
        while (!stop) {
            wait_until(clock::now() + std::chrono::milliseconds{between_looks_ms});
            if (control->is_acquiring()) acquire(stop, tell);
        }
    }
};

open_ephys_gui::open_ephys_gui(const gui_options& options)
    : state_(std::make_unique<state>(options)) {
    if (options.zmq_interface.empty() && options.event_broadcaster.empty())
        throw std::runtime_error("neither the ZMQ Interface nor the Event Broadcaster is there");
}

open_ephys_gui::~open_ephys_gui() = default;

std::string open_ephys_gui::addresses() const {
    const auto of = [](const auto& plugin) { return plugin ? plugin->address() : std::string(); };
    return fmt::format(R"({{"zmq_interface":"{}","event_broadcaster":"{}","network_events":"{}"}})",
                       of(state_->zmq_interface), of(state_->event_broadcaster),
                       of(state_->control));
}

gui_counts open_ephys_gui::run(const std::atomic<bool>& stop, const on_spike& tell) {
    state_->run(stop, tell);
    const auto of = [](const std::optional<publisher>& plugin) {
        return plugin ? publisher_counts{plugin->sent(), plugin->dropped()} : publisher_counts{};
    };
    state_->counts.zmq_interface = of(state_->zmq_interface);
    state_->counts.event_broadcaster = of(state_->event_broadcaster);
    return state_->counts;
}

}  // namespace spikeweave::live::stand_in
