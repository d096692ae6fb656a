#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

#include "spikeweave/parallel/communicator.hpp"

// failing_rank HOW: the last rank ends in this way while the others wait for its bytes.
// failing_rank_test.py checks the end of the job.
int main(int argc, char** argv) {
    const std::string how = argc > 1 ? argv[1] : "";
    const auto ranks = spikeweave::mpi_ranks();
    if (ranks->rank() + 1 == ranks->size()) {
        // Gives the others time to start waiting.
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        if (how == "abort") {
            std::cerr << "given up on the last rank" << std::endl;
            ranks->abort(7);
        }
        if (how == "throw") throw std::runtime_error("thrown on the last rank");
        if (how == "kill") std::raise(SIGKILL);
        if (how == "crash") std::raise(SIGSEGV);
        if (how == "vanish") std::_Exit(9);
    }
    const auto all = ranks->gather("here");
    return ranks->rank() == 0 && all.size() != static_cast<std::size_t>(ranks->size()) ? 1 : 0;
}
