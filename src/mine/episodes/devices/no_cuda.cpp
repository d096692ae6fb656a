// Replaces cuda/ in a build without CUDA.

#include "mine/episodes/devices/backend.hpp"

namespace spikeweave::episodes {

const cuda_backend* const cuda_or_null = nullptr;

}  // namespace spikeweave::episodes
