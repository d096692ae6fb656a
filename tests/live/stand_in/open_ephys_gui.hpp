#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// What the Open Ephys GUI with its Spike Detector and the plugins ZMQ Interface, Event Broadcaster
/// and Network Events sends and answers, as their sources have it (plugin-GUI 1.0.1).
namespace spikeweave::live::stand_in {

struct gui_options {
    // Addresses to bind, such as tcp://127.0.0.1:5556; empty: the plugin is not there.
    std::string zmq_interface{};
    std::string event_broadcaster{};
    std::string network_events{};

    double seconds = 10;           // of data, in real time
    double spikes_per_s = 20'000;  // of all units together
    double burst_per_s = 0;        // in the first 100 ms of each second; 0: no bursts
    std::int64_t units = 100;      // electrodes E0, E1, ...
    std::int64_t rate_hz = 30'000;
    std::int64_t block_samples = 1024;
    /// The Spike Detector stops that many samples before the end of a block.
    std::int64_t held_back_samples = 100;
    std::int64_t channels = 1;  // selected in the ZMQ Interface
    /// Every so many spikes one has a number but is not sent, as those of other streams; 0: none.
    std::int64_t unsent_every = 0;
    std::int64_t high_water_mark = 1000;  // messages that wait to be sent; the plugins set none
    bool waits_for_subscriber = false;
};

struct publisher_counts {
    std::uint64_t sent = 0;
    std::uint64_t dropped = 0;  // because the subscriber is too slow
};

struct gui_counts {
    std::uint64_t acquisitions = 0;
    std::uint64_t spikes = 0;
    std::uint64_t unsent = 0;
    std::uint64_t dropped_spikes = 0;  // by the ZMQ Interface
    publisher_counts zmq_interface{};
    publisher_counts event_broadcaster{};
};

/// Called for each spike just before the message is sent that lets a receiver know of it, and of
/// all earlier ones: its own from the Event Broadcaster, or the data from the ZMQ Interface.
using on_spike = std::function<void(std::int64_t sample)>;

class open_ephys_gui {
public:
    explicit open_ephys_gui(const gui_options& options);
    ~open_ephys_gui();
    open_ephys_gui(const open_ephys_gui&) = delete;
    open_ephys_gui& operator=(const open_ephys_gui&) = delete;

    /// The addresses that were bound, as JSON.
    std::string addresses() const;
    /// Runs until the data have been sent, or `stop` is set.
    gui_counts run(const std::atomic<bool>& stop, const on_spike& tell = {});

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace spikeweave::live::stand_in
