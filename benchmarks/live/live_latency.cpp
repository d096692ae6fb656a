// The time from the moment at which a message is sent that makes a detection possible to that at
// which another process has read the detection: a stand-in for the Open Ephys GUI sends 20,000
// spikes a second of 1,000 units, 100 episodes of four units are armed, and each occurs 20 times a
// second.
//   live_latency COMMAND broadcast|interface|lines [SECONDS [BURST_PER_S [pages=N] [OPTION...]]]
//   broadcast  the Event Broadcaster, a message for each spike, in the order of their times
//   interface  the ZMQ Interface with blocks of 1,024 samples; the message is the data of the block
//   lines      lines of JSON in a pipe
//   pages=N    the command serves its dashboard to N pages, of which one takes nothing
//   OPTION     of the command, such as --record FILE
// `-` instead of COMMAND takes the detections in this program, without the command's options, and
// also measures the time from the moment at which the source has given the spikes of a message to
// that at which the detection has been written.

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "benchmarks/live/armed_chains.hpp"
#include "benchmarks/live/page_clients.hpp"
#include "benchmarks/live/processes.hpp"
#include "live/session/session.hpp"
#include "live/sinks/json_results.hpp"
#include "live/sources/streams.hpp"
#include "tests/live/stand_in/open_ephys_gui.hpp"

namespace {

using namespace spikeweave;
using namespace spikeweave::live;
using stand_in::gui_counts;
using stand_in::gui_options;
using stand_in::open_ephys_gui;

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Numbers that several processes see.
class shared_numbers {
public:
    explicit shared_numbers(std::size_t size)
        : size_(size),
          at_(::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
        if (at_ == MAP_FAILED) throw std::runtime_error("no memory can be shared");
    }
    ~shared_numbers() { ::munmap(at_, bytes()); }
    shared_numbers(const shared_numbers&) = delete;
    shared_numbers& operator=(const shared_numbers&) = delete;

    std::size_t size() const { return size_; }
    std::atomic<std::int64_t>& operator[](std::size_t i) {
        return static_cast<std::atomic<std::int64_t>*>(at_)[i];
    }

private:
    std::size_t bytes() const { return size_ * sizeof(std::atomic<std::int64_t>); }

    std::size_t size_;
    void* at_;
};

struct settings {
    std::string command;
    std::string source;
    double seconds = 60;
    double burst_per_s = 0;
    std::size_t pages = 0;
    std::vector<std::string> options{};

    bool is_in_blocks() const { return source == "interface"; }
    bool is_here() const { return command == "-"; }
    bool is_lines() const { return source == "lines"; }
    std::int64_t rate_hz() const { return is_in_blocks() ? 30'000 : 20'000; }
};

gui_options gui_options_of(const settings& how) {
    gui_options gui{.seconds = how.seconds,
                    .burst_per_s = how.burst_per_s,
                    .units = chain_units,
                    .rate_hz = how.rate_hz(),
                    .waits_for_subscriber = true};
    (how.is_in_blocks() ? gui.zmq_interface : gui.event_broadcaster) = "tcp://127.0.0.1:*";
    if (how.is_in_blocks()) return gui;
    gui.block_samples = 1;
    gui.held_back_samples = 0;
    return gui;
}

/// The first spike of a sample counts.
void stamp(shared_numbers& sent_ns, std::int64_t sample) {
    auto& at = sent_ns[static_cast<std::size_t>(sample)];
    if (at.load(std::memory_order_relaxed) == 0) at.store(now_ns(), std::memory_order_release);
}

void send_lines(const settings& how, int to, shared_numbers& sent_ns) {
    const auto began = std::chrono::steady_clock::now();
    const auto count = static_cast<std::int64_t>(how.seconds * static_cast<double>(how.rate_hz()));
    for (std::int64_t i = 0; i < count; ++i) {
        std::this_thread::sleep_until(began + std::chrono::microseconds{50 * i});
        const std::string line =
            fmt::format("{{\"t_us\":{},\"unit\":\"E{}\"}}\n", 50 * i, chain_unit_of(i));
        stamp(sent_ns, i);
        if (::write(to, line.data(), line.size()) < 0) return;
    }
}

std::string address_of(const open_ephys_gui& gui) {
    const std::string all = gui.addresses();
    const std::size_t begin = all.find("127.0.0.1:");
    return all.substr(begin, all.find('"', begin) - begin);
}

[[noreturn]] void become_command(const settings& how, const std::string& from,
                                 const std::string& armed) {
    std::vector<std::string> arguments{
        how.command,   "live", from,      "--no-windows",
        "--episodes",  armed,  "--order", how.is_in_blocks() ? "block" : "source",
        "--allow-gaps"};
    if (how.pages > 0) arguments.emplace_back("--dashboard");
    arguments.insert(arguments.end(), how.options.begin(), how.options.end());
    become(arguments);
}

/// Notes when its blocks were given.
class timed_source : public source {
public:
    timed_source(std::unique_ptr<source> from, std::int64_t& given_ns)
        : from_(std::move(from)), given_ns_(&given_ns) {}
    const std::vector<std::string>& unit_names() const override { return from_->unit_names(); }
    std::optional<source_block> next() override {
        auto block = from_->next();
        *given_ns_ = now_ns();
        return block;
    }

private:
    std::unique_ptr<source> from_;
    std::int64_t* given_ns_;
};

std::stop_source stopping;

// The first number is how many there are.
void analyse_here(const settings& how, const std::string& address, int to,
                  shared_numbers& handed_ns) {
    std::signal(SIGTERM, [](int) { stopping.request_stop(); });
    const std::vector<std::string> names = chain_unit_names();
    const std::vector<armed_episode> armed = armed_chains();
    std::int64_t given_ns = 0;
    timed_source from(open_ephys(how.is_in_blocks() ? open_ephys_sender::zmq_interface
                                                    : open_ephys_sender::event_broadcaster,
                                 "tcp://" + address, "", names, stopping.get_token()),
                      given_ns);
    const text_writer write = [&](std::string_view text) {
        if (::write(to, text.data(), text.size()) < 0) throw std::runtime_error("cannot write");
        const auto at = static_cast<std::size_t>(handed_ns[0]++ + 1);
        if (at < handed_ns.size()) handed_ns[at] = now_ns() - given_ns;
    };
    json_results results(armed, std::make_unique<written_lines>(write));
    session through(
        names,
        {.order = {.policy = how.is_in_blocks() ? order_policy::block : order_policy::source},
         .armed = armed},
        results);
    run_session(from, through, {.stop = stopping.get_token()});
}

struct read_results {
    std::vector<double> latencies_us{};
    std::string last_line{};
};

/// Reads until the end of the results.
read_results read_detections(int from, std::int64_t rate_hz, shared_numbers& sent_ns) {
    read_results all;
    std::string text;
    std::array<char, 1 << 16> buffer{};
    for (ssize_t got = 0; (got = ::read(from, buffer.data(), buffer.size())) > 0;) {
        const std::int64_t now = now_ns();
        text.append(buffer.data(), static_cast<std::size_t>(got));
        std::size_t begin = 0;
        for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos;
             begin = end + 1) {
            const std::string_view line(text.data() + begin, end - begin);
            all.last_line = line;
            if (!line.starts_with(R"({"type":"detection")")) continue;
            std::int64_t end_us = 0;
            const std::size_t at = line.find(',', line.find(R"("t_us":[)")) + 1;
            std::from_chars(line.data() + at, line.data() + line.size(), end_us);
            const auto sample = static_cast<std::size_t>((end_us * rate_hz + 500'000) / 1'000'000);
            const std::int64_t sent = sent_ns[sample].load(std::memory_order_acquire);
            all.latencies_us.push_back(static_cast<double>(now - sent) / 1e3);
        }
        text.erase(0, begin);
    }
    return all;
}

void print_percentiles(const std::string& what, std::vector<double> values) {
    if (values.empty()) throw std::runtime_error("nothing was detected");
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
        return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
    };
    fmt::print("{}: p50 {:.0f}, p99 {:.0f}, p99.9 {:.0f}, most {:.0f} us of {}\n", what, at(0.5),
               at(0.99), at(0.999), values.back(), values.size());
}

/// The processes, and what they share.
struct measurement {
    settings how;
    shared_numbers sent_ns{
        static_cast<std::size_t>((how.seconds + 1) * static_cast<double>(how.rate_hz()))};
    shared_numbers handed_ns{1 << 20};
    pipe_ends results = make_pipe();
    pipe_ends lines = make_pipe();
    pipe_ends told = make_pipe();
    std::filesystem::path armed =
        std::filesystem::temp_directory_path() / fmt::format("armed-{}.txt", ::getpid());

    void send(int tell_address) {
        if (how.is_lines()) {
            ::close(tell_address);
            return send_lines(how, lines.write, sent_ns);
        }
        open_ephys_gui gui(gui_options_of(how));
        const std::string address = address_of(gui);
        if (::write(tell_address, address.data(), address.size()) < 0) return;
        const std::atomic<bool> never{false};
        const gui_counts sent =
            gui.run(never, [&](std::int64_t sample) { stamp(sent_ns, sample); });
        fmt::print("{} spikes sent, {} messages dropped by the sender\n", sent.spikes,
                   sent.zmq_interface.dropped + sent.event_broadcaster.dropped);
        std::fflush(stdout);
    }

    void receive(const std::string& address) {
        ::dup2(results.write, STDOUT_FILENO);
        if (how.pages > 0) ::dup2(told.write, STDERR_FILENO);
        if (how.is_lines()) ::dup2(lines.read, STDIN_FILENO);
        if (how.is_here()) return analyse_here(how, address, STDOUT_FILENO, handed_ns);
        const std::string scheme =
            how.is_in_blocks() ? "open-ephys-zmq://" : "open-ephys-events://";
        become_command(how, how.is_lines() ? "-" : scheme + address, armed);
    }

    void open_pages() {
        std::string address(200, '\0');
        const ssize_t size = ::read(told.read, address.data(), address.size());
        address.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
        if (!address.starts_with("http://")) throw std::runtime_error(address);
        page_clients(address.substr(0, address.find('\n'))).watch(how.pages - 1, 1);
    }

    void print_handed() {
        std::vector<double> handed_us;
        const auto count = std::min(static_cast<std::size_t>(handed_ns[0]) + 1, handed_ns.size());
        for (std::size_t i = 1; i < count; ++i)
            handed_us.push_back(static_cast<double>(handed_ns[i]) / 1e3);
        print_percentiles("given by the source to written", std::move(handed_us));
    }
};

void measure(const settings& how) {
    measurement all{how};
    std::ofstream(all.armed) << armed_chains_as_text();
    const std::string load_before = load_of_machine();

    const pipe_ends address_pipe = make_pipe();
    const pid_t sender = run_in_child([&] { all.send(address_pipe.write); });
    ::close(all.lines.write);
    ::close(address_pipe.write);
    std::array<char, 64> text{};
    const ssize_t size = ::read(address_pipe.read, text.data(), text.size());
    const std::string address(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    const pid_t receiver = run_in_child([&] { all.receive(address); });
    ::close(all.results.write);
    ::close(all.lines.read);
    const pid_t pages = how.pages > 0 ? run_in_child([&] { all.open_pages(); }) : 0;

    std::jthread ending([&] {
        ::waitpid(sender, nullptr, 0);
        std::this_thread::sleep_for(std::chrono::seconds{1});
        ::kill(receiver, SIGTERM);
    });
    read_results read = read_detections(all.results.read, how.rate_hz(), all.sent_ns);
    ending.join();
    rusage used{};
    ::wait4(receiver, nullptr, 0, &used);
    std::filesystem::remove(all.armed);
    if (pages > 0) ::kill(pages, SIGTERM);
    if (pages > 0) ::waitpid(pages, nullptr, 0);

    fmt::print("{}\n", read.last_line);
    print_percentiles("sent to detection read", std::move(read.latencies_us));
    if (how.is_here()) all.print_handed();
    fmt::print("processor time: {:.1f} % of a core; load of the machine: {} before, {} after\n",
               100 * cpu_seconds_of(used) / how.seconds, load_before, load_of_machine());
}

settings read_settings(std::span<char*> arguments) {
    if (arguments.size() < 3)
        throw std::runtime_error(
            "usage: live_latency COMMAND broadcast|interface|lines [SECONDS [BURST_PER_S [pages=N] "
            "[OPTION...]]]");
    settings how{.command = arguments[1], .source = arguments[2]};
    if (how.source != "broadcast" && how.source != "interface" && how.source != "lines")
        throw std::runtime_error("there is no source " + how.source);
    if (how.is_lines() && how.is_here())
        throw std::runtime_error("lines are read by the command only");
    if (arguments.size() > 3) how.seconds = std::stod(arguments[3]);
    if (arguments.size() > 4) how.burst_per_s = std::stod(arguments[4]);
    if (arguments.size() > 5) how.options.assign(arguments.begin() + 5, arguments.end());
    constexpr std::string_view pages = "pages=";
    if (!how.options.empty() && how.options[0].starts_with(pages)) {
        how.pages = std::stoul(how.options[0].substr(pages.size()));
        how.options.erase(how.options.begin());
    }
    if (how.pages > 0 && how.is_here()) throw std::runtime_error("only the command serves pages");
    return how;
}

}  // namespace

int main(int argc, char** argv) try {
    measure(read_settings({argv, static_cast<std::size_t>(argc)}));
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "live_latency: {}\n", error.what());
    return 1;
}
