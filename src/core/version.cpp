#include "spikeweave/core/version.hpp"

namespace spikeweave {

std::string_view version() {
    return SPIKEWEAVE_VERSION;
}

}  // namespace spikeweave
