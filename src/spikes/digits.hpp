#pragma once

namespace spikeweave::spikes {

/// Whether `c` is one of 0 to 9, in every locale.
inline bool is_digit(char c) {
    return static_cast<unsigned char>(c - '0') < 10;
}

}  // namespace spikeweave::spikes
