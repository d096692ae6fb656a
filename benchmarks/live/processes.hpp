#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

/// Benchmarks of several processes.
namespace spikeweave {

struct pipe_ends {
    int read = -1;
    int write = -1;
};

inline pipe_ends make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("there is no pipe");
    return {ends[0], ends[1]};
}

/// Runs a function in a separate process, which ends with it. Returns its id.
template <class Run>
pid_t run_in_child(const Run& run) {
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("there is no process");
    if (child > 0) return child;
    int status = 0;
    try {
        run();
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        status = 1;
    }
    ::_exit(status);
}

/// Becomes another program.
[[noreturn]] inline void become(std::vector<std::string> arguments) {
    std::vector<char*> pointers;
    for (std::string& one : arguments) pointers.push_back(one.data());
    pointers.push_back(nullptr);
    ::execv(pointers[0], pointers.data());
    throw std::runtime_error("cannot run " + arguments[0]);
}

inline std::string load_of_machine() {
    std::ifstream file("/proc/loadavg");
    std::string load;
    file >> load;
    return load;
}

inline double cpu_seconds_of(const rusage& used) {
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace spikeweave
