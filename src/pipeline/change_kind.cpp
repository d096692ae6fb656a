#include "spikeweave/pipeline/change_kind.hpp"

namespace spikeweave {

template <>
enum_table<change_kind> enum_names<change_kind>() {
    using enum change_kind;
    static constexpr named_value<change_kind> values[]{
        {none, "none", "no significant change"},
        {rate, "rate", "as the rates of the units explain"},
        {excess, "excess", "beyond what rates explain"}};
    return {"kind of change", values};
}

}  // namespace spikeweave
