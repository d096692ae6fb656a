#include "synfire/core/version.hpp"

namespace synfire {

std::string_view version() {
    return SYNFIRE_VERSION;
}

}  // namespace synfire
