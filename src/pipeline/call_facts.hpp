#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

/// The duration and the warnings, which the results of all calls have.
namespace spikeweave::pipeline {

/// Measures the duration of a call, from its construction on.
class stop_watch {
public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    }

private:
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// Adds the warnings that are not there yet.
inline void add_new_warnings(std::vector<std::string>& to, const std::vector<std::string>& more) {
    for (const std::string& warning : more)
        if (std::ranges::find(to, warning) == to.end()) to.push_back(warning);
}

}  // namespace spikeweave::pipeline
