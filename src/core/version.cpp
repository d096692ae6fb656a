#include "spikeweave/core/version.hpp"

namespace spikeweave {

std::string_view version() {
    return SPIKEWEAVE_VERSION_STRING SPIKEWEAVE_COMMIT;
}

}  // namespace spikeweave
