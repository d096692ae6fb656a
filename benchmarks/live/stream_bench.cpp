// Spikes of 1,000 units that another process sends to a session, over TCP of this computer, with
// 100 armed episodes of four units and no windows. `max` sends as fast as the session takes them;
// `steady` sends 20,000 a second; `bursts` sends 200,000 a second in the first tenth of each
// second; `recorded` is `max` with a record of the session; `hours` sends 20,000 spikes for each
// second of the recording, as fast as they are taken, and measures memory after one hour and after
// all.
//
// `lost` is the number of spikes that were sent and not analysed. `share` is the processor time of
// the thread that receives, orders and detects, as a share of the time that passed; `per_s` is how
// many spikes it takes in a second of its processor time. SPIKEWEAVE_STREAM_SECONDS is how long
// `steady` and `bursts` last (10), SPIKEWEAVE_STREAM_HOURS how many hours `hours` has (2).

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "live/log/recorded.hpp"
#include "live/log/session_log.hpp"
#include "live/session/session.hpp"
#include "live/sources/streams.hpp"
#include "spikeweave/live/spike_sender.hpp"
#include "spikeweave/mine/episodes/detector.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace {

using namespace spikeweave;
using namespace spikeweave::live;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr std::int64_t second_us = 1'000'000;
constexpr double usual_rate = 20'000;

/// Ten seconds of spikes, which are sent again and again.
const spike_sequence& ten_seconds() {
    static const spike_sequence spikes =
        simulate_poisson({.units = 1000, .length = 10s, .rate_hz = 20, .seed = 1}).spikes;
    return spikes;
}

std::vector<armed_episode> armed_episodes() {
    std::mt19937_64 random(7);
    const std::vector<delay_interval> delays = default_delays();
    std::vector<armed_episode> armed(100);
    for (auto& [what, fire_at] : armed) {
        for (std::size_t k = 0; k < 4; ++k) {
            what.units.push_back(unit_id{static_cast<std::uint32_t>(random() % 1000)});
            if (k > 0) what.delays.push_back(delays[random() % delays.size()]);
        }
    }
    return armed;
}

struct load {
    std::size_t spikes_per_frame;
    std::uint64_t spikes;
    /// When a frame is due, in seconds after the first one.
    double (*due)(std::uint64_t spikes_before);
    bool is_recorded = false;
};

double at_once(std::uint64_t) {
    return 0;
}
double steadily(std::uint64_t before) {
    return static_cast<double>(before) / usual_rate;
}
double in_bursts(std::uint64_t before) {
    constexpr std::uint64_t in_each_second = 20'000;
    return static_cast<double>(before / in_each_second) +
           static_cast<double>(before % in_each_second) / (10 * usual_rate);
}

double value_of(const char* name, double otherwise) {
    const char* const set = std::getenv(name);
    return set == nullptr ? otherwise : std::atof(set);
}

int free_port() {
    const int tried = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(tried, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::getsockname(tried, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        throw std::runtime_error("there is no free port");
    ::close(tried);
    return ntohs(address.sin_port);
}

void send(int port, const load& what) {
    const spike_sequence& spikes = ten_seconds();
    spike_sender to(fmt::format("spikeweave://127.0.0.1:{}", port), spikes.unit_names());
    const auto begin = clock_type::now();
    std::vector<std::int64_t> times;
    std::vector<unit_id> units;
    for (std::uint64_t sent = 0; sent < what.spikes; sent += times.size()) {
        times.clear();
        units.clear();
        for (std::uint64_t i = sent; i < std::min(sent + what.spikes_per_frame, what.spikes); ++i) {
            const std::size_t at = i % spikes.size();
            const auto round = static_cast<std::int64_t>(i / spikes.size());
            times.push_back(spikes.times_us()[at] + 10 * second_us * round);
            units.push_back(spikes.units()[at]);
        }
        std::this_thread::sleep_until(
            begin + std::chrono::duration_cast<clock_type::duration>(
                        std::chrono::duration<double>(what.due(sent + times.size()))));
        to.send(times, units, times.back());
    }
    to.finish();
}

double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double resident_megabytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
    return 0;
}

/// Measures what a session needs from its first block on.
class measured_source : public source {
public:
    explicit measured_source(source& from) : from_(&from) {}

    const std::vector<std::string>& unit_names() const override { return from_->unit_names(); }
    std::optional<source_block> next() override {
        auto block = from_->next();
        if (!began_) {
            began_ = clock_type::now();
            began_with_ = thread_seconds();
        }
        if (block && block->watermark_us && megabytes_after_an_hour == 0 &&
            *block->watermark_us > 3600 * second_us)
            megabytes_after_an_hour = resident_megabytes();
        if (!block) {
            seconds = std::chrono::duration<double>(clock_type::now() - *began_).count();
            thread = thread_seconds() - began_with_;
        }
        return block;
    }
    void acknowledge_after(const std::function<std::uint64_t()>& safe) override {
        from_->acknowledge_after(safe);
    }

    double seconds = 0;
    double thread = 0;
    double megabytes_after_an_hour = 0;

private:
    source* from_;
    std::optional<clock_type::time_point> began_{};
    double began_with_ = 0;
};

struct measured {
    session_counts counts{};
    double seconds = 0;
    double thread = 0;
    double growth = 0;  ///< megabytes
};

measured receive(source& from, const load& what) {
    const auto path = std::filesystem::temp_directory_path() / "stream_bench.session";
    std::filesystem::remove(path);
    measured_source measuring(from);
    const std::vector<std::string> units = ten_seconds().unit_names();
    const session_options analysis{.order = {.policy = order_policy::block},
                                   .armed = armed_episodes()};
    sink nowhere;
    measured found;
    const auto run = [&](source& through, sink& results) {
        session analysed(units, analysis, results);
        run_session(through, analysed, {.threads = 1});
        found.counts = analysed.counts();
    };
    if (what.is_recorded) {
        session_log log(path, {units, analysis});
        recorded_source recorded(measuring, log);
        recorded_results results(nowhere, log);
        run(recorded, results);
        std::filesystem::remove(path);
    } else {
        run(measuring, nowhere);
    }
    found.seconds = measuring.seconds;
    found.thread = measuring.thread;
    if (measuring.megabytes_after_an_hour > 0)
        found.growth = resident_megabytes() - measuring.megabytes_after_an_hour;
    return found;
}

std::uint64_t expected_detections(std::uint64_t spikes) {
    const spike_sequence& part = ten_seconds();
    const std::vector<armed_episode> armed = armed_episodes();
    episode_detector detector(armed, part.unit_count());
    std::uint64_t detections = 0;
    for (std::uint64_t i = 0; i < spikes; ++i) {
        const std::int64_t round = static_cast<std::int64_t>(i / part.size()) * 10 * second_us;
        detections +=
            detector.add(part.times_us()[i % part.size()] + round, part.units()[i % part.size()])
                .size();
    }
    return detections;
}

void stream(benchmark::State& state, const load& what) {
    constexpr std::uint64_t most_compared = 20'000'000;
    ten_seconds();
    for (auto _ : state) {
        const int port = free_port();
        const pid_t sender = fork();
        if (sender == 0) {
            try {
                send(port, what);
            } catch (const std::exception&) {
                _exit(1);
            }
            _exit(0);
        }
        const auto from = acknowledged_stream(fmt::format("tcp://127.0.0.1:{}", port),
                                              senders(ten_seconds().unit_names()));
        const measured found = receive(*from, what);
        int status = 0;
        waitpid(sender, &status, 0);
        const session_counts& counts = found.counts;
        if (status != 0 || counts.has_losses() || counts.repeated > 0) {
            state.SkipWithError("the sender failed, or messages were lost");
            return;
        }
        if (what.spikes <= most_compared && counts.detections != expected_detections(what.spikes)) {
            state.SkipWithError("other detections than in the same spikes without a stream");
            return;
        }
        const auto analysed = static_cast<double>(counts.order.accepted);
        state.SetIterationTime(found.seconds);
        state.counters["lost"] = static_cast<double>(what.spikes) -
                                 static_cast<double>(counts.order.duplicates) - analysed;
        state.counters["share"] = found.thread / found.seconds;
        state.counters["per_s"] = analysed / found.thread;
        state.counters["growth_MB"] = found.growth;
        state.SetItemsProcessed(static_cast<std::int64_t>(analysed));
    }
}

const bool registered = [] {
    const double seconds = value_of("SPIKEWEAVE_STREAM_SECONDS", 10);
    const double hours = value_of("SPIKEWEAVE_STREAM_HOURS", 2);
    const auto paced = static_cast<std::uint64_t>(seconds * usual_rate);
    const std::vector<std::pair<std::string, load>> loads{
        {"max/frames_of_20", {20, 4'000'000, at_once}},
        {"max/frames_of_1000", {1000, 20'000'000, at_once}},
        {"recorded/frames_of_20", {20, 4'000'000, at_once, true}},
        {"recorded/frames_of_1000", {1000, 20'000'000, at_once, true}},
        {"steady/frames_of_20", {20, paced, steadily}},
        {"bursts/frames_of_200", {200, paced, in_bursts}},
        {"hours/frames_of_1000",
         {1000, static_cast<std::uint64_t>(hours * 3600 * usual_rate), at_once}},
    };
    for (const auto& [name, what] : loads)
        benchmark::RegisterBenchmark(name.c_str(), stream, what)
            ->Unit(benchmark::kMillisecond)
            ->UseManualTime()
            ->Iterations(1);
    return true;
}();

}  // namespace
