// The memory of the command while hours of a stream go through it as fast as it takes them: random
// spikes as lines of JSON, with ten armed episodes of three units.
//   live_memory COMMAND [HOURS [UNITS [SPIKES_PER_S [OPTION...]]]]
//   OPTION  of the command, such as --window 10s --hop 1s --min-count 20; none: --no-windows
// Succeeds if the memory at the end is at most 2 MB above that after the first hour.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "benchmarks/live/processes.hpp"

namespace {

using namespace spikeweave;

struct settings {
    std::string command;
    int hours = 24;
    std::uint64_t units = 20;
    std::uint64_t spikes_per_s = 200;
    std::vector<std::string> options{"--no-windows"};
};

double resident_megabytes(pid_t process) {
    std::ifstream status(fmt::format("/proc/{}/status", process));
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
    throw std::runtime_error("the command has ended");
}

void write_all(int to, std::string_view text) {
    while (!text.empty()) {
        const ssize_t wrote = ::write(to, text.data(), text.size());
        if (wrote < 0) throw std::runtime_error("the command has ended");
        text.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

class random_spikes {
public:
    explicit random_spikes(const settings& how)
        : units_(how.units), twice_the_mean_us_(2'000'000 / how.spikes_per_s) {}

    /// Returns how many spikes there were before this time.
    std::uint64_t write_until(std::uint64_t end_us, int to) {
        std::uint64_t count = 0;
        for (; time_us_ < end_us; ++count) {
            fmt::format_to(std::back_inserter(text_), R"({{"t_us":{},"unit":"E{}"}})", time_us_,
                           random_() % units_);
            text_ += '\n';
            time_us_ += 1 + random_() % twice_the_mean_us_;
            if (text_.size() < 60'000) continue;
            write_all(to, text_);
            text_.clear();
        }
        write_all(to, text_);
        text_.clear();
        return count;
    }

private:
    std::uint64_t units_;
    std::uint64_t twice_the_mean_us_;
    std::mt19937_64 random_{5};
    std::uint64_t time_us_ = 0;
    std::string text_{};
};

std::string armed_text(std::uint64_t units) {
    std::string text;
    for (std::uint64_t i = 0; i < 10; ++i)
        text +=
            fmt::format("E{} 0-10ms E{} 0-10ms E{}\n", i % units, (i + 1) % units, (i + 2) % units);
    return text;
}

int measure(const settings& how) {
    const auto armed =
        std::filesystem::temp_directory_path() / fmt::format("armed-{}.txt", ::getpid());
    std::ofstream(armed) << armed_text(how.units);
    const pipe_ends lines = make_pipe();
    const pipe_ends results = make_pipe();
    const pid_t command = run_in_child([&] {
        ::dup2(lines.read, STDIN_FILENO);
        ::dup2(results.write, STDOUT_FILENO);
        std::vector<std::string> arguments{how.command, "live", "-", "--episodes", armed};
        arguments.insert(arguments.end(), how.options.begin(), how.options.end());
        become(arguments);
    });
    ::close(lines.read);
    ::close(results.write);
    std::string last;
    std::jthread reading([&] {
        std::array<char, 1 << 16> buffer{};
        for (ssize_t got = 0; (got = ::read(results.read, buffer.data(), buffer.size())) > 0;)
            last.append(buffer.data(), static_cast<std::size_t>(got))
                .erase(0, last.rfind('\n', last.size() - 2) + 1);
    });

    random_spikes spikes(how);
    std::vector<double> megabytes;
    std::uint64_t count = 0;
    const auto began = std::chrono::steady_clock::now();
    for (int hour = 1; hour <= how.hours; ++hour) {
        count += spikes.write_until(static_cast<std::uint64_t>(hour) * 3'600'000'000, lines.write);
        megabytes.push_back(resident_megabytes(command));
        fmt::print("hour {}: {:.2f} MB\n", hour, megabytes.back());
        std::fflush(stdout);
    }
    ::close(lines.write);
    rusage used{};
    ::wait4(command, nullptr, 0, &used);
    reading.join();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    std::filesystem::remove(armed);
    fmt::print(
        "{}{} spikes in {:.0f} s ({:.0f} x), {:.0f} s of processor time, {:.2f} M spikes/s; "
        "load of the machine: {}\n",
        last, count, seconds, 3600.0 * how.hours / seconds, cpu_seconds_of(used),
        static_cast<double>(count) / seconds / 1e6, load_of_machine());
    constexpr double most_growth = 2;
    return megabytes.back() <= megabytes.front() + most_growth ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
    std::signal(SIGPIPE, SIG_IGN);
    const std::vector<std::string> arguments(argv, argv + argc);
    if (arguments.size() < 2)
        throw std::runtime_error(
            "usage: live_memory COMMAND [HOURS [UNITS [SPIKES_PER_S [OPTION...]]]]");
    settings how{.command = arguments[1]};
    if (arguments.size() > 2) how.hours = std::stoi(arguments[2]);
    if (arguments.size() > 3) how.units = std::stoull(arguments[3]);
    if (arguments.size() > 4) how.spikes_per_s = std::stoull(arguments[4]);
    if (arguments.size() > 5) how.options.assign(arguments.begin() + 5, arguments.end());
    return measure(how);
} catch (const std::exception& error) {
    fmt::print(stderr, "live_memory: {}\n", error.what());
    return 2;
}
