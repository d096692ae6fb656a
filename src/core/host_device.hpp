#pragma once

/// Marks a function that hosts and devices call.
#ifdef __CUDACC__
#define SPIKEWEAVE_HD __host__ __device__
#else
#define SPIKEWEAVE_HD
#endif
