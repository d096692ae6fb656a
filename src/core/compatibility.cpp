#include "spikeweave/core/compatibility.hpp"

#include <array>

namespace spikeweave {

template <>
enum_table<compatibility> enum_names<compatibility>() {
    static constexpr std::array<named_value<compatibility>, 3> values{{
        {compatibility::none, "none"},
        {compatibility::elephant, "elephant"},
        {compatibility::elephant_ms, "elephant-ms"},
    }};
    return {"compatibility", values};
}

}  // namespace spikeweave
