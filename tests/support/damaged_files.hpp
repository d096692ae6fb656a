#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "spikeweave/core/error.hpp"
#include "support/run_length.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {

/// The rounds of a test that damages a file, fewer in a shortened run.
inline int damage_rounds(int usual) {
    return is_shortened_run() ? usual / 5 : usual;
}

/// Changes one to three bytes of a file of the folder, round after round, and reads it each time.
/// The reader may accept it, or refuse it with an io_error that names a file of the folder;
/// anything else fails the test. The file is restored afterwards.
template <class Read>
void read_with_changed_bytes(const temporary_folder& folder, const std::string& name, int rounds,
                             const Read& read) {
    const std::string whole = read_bytes(folder.path() / name);
    ASSERT_FALSE(whole.empty()) << name;
    std::mt19937_64 random(rounds);
    for (int round = 0; round < rounds; ++round) {
        std::string damaged = whole;
        for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes)
            damaged[random() % damaged.size()] = static_cast<char>(random());
        folder.file(name, damaged);
        try {
            read();
        } catch (const io_error& error) {
            EXPECT_NE(std::string(error.what()).find(folder.path().string()), std::string::npos)
                << error.what();
        }
    }
    folder.file(name, whole);
}

}  // namespace spikeweave
