#pragma once

/// The whole library.
#include "synfire/assess/circuit.hpp"
#include "synfire/assess/significance.hpp"
#include "synfire/assess/surrogates.hpp"
#include "synfire/core/error.hpp"
#include "synfire/core/execution.hpp"
#include "synfire/core/ids.hpp"
#include "synfire/core/random.hpp"
#include "synfire/core/time.hpp"
#include "synfire/core/version.hpp"
#include "synfire/mine/episode.hpp"
#include "synfire/parallel/communicator.hpp"
#include "synfire/report/episodes.hpp"
#include "synfire/simulate/spikes.hpp"
#include "synfire/spikes/files.hpp"
#include "synfire/spikes/spike_sequence.hpp"
#include "synfire/spikes/spike_trains.hpp"
