#include "spikeweave/pipeline/change_kind.hpp"

#include <array>

namespace spikeweave {

template <>
enum_table<change_kind> enum_names<change_kind>() {
    static constexpr std::array<named_value<change_kind>, 3> values{{
        {change_kind::none, "none", "no significant change"},
        {change_kind::rate, "rate", "as the rates of the units explain"},
        {change_kind::excess, "excess", "beyond what rates explain"},
    }};
    return {"kind of change", values};
}

}  // namespace spikeweave
