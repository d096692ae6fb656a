#pragma once

#include "core/host_device.hpp"

/// Code of the search on GPUs is written for a `Warp`, a group of lanes that run together, so that
/// a test can run it on the CPU with a warp of one lane (tests/mine/spade/emulated_lanes.hpp).
///
/// All lanes call these functions together, with the same arguments unless a comment states
/// otherwise:
///   Warp::size                    the number of lanes
///   lane()                        the number of this lane
///   sync()                        waits for all lanes, and shows each what the others wrote
///   ballot(bool own)              one bit for each lane
///   min(value), sum(value)        over the values of all lanes
///   first_lane(value)             that of lane 0
/// and each lane for itself:
///   bits(word), first(word)       the number of bits set, and the place of the lowest
///   load(place)                   what another warp may have just written
///   raise(place, value), add(place, value), set_bits(place, bits)   atomic; the last two return
///       what was there before
#ifdef __CUDACC__
#define SPIKEWEAVE_LANES __device__
#else
#define SPIKEWEAVE_LANES
#endif
