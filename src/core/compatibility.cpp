#include "spikeweave/core/compatibility.hpp"

namespace spikeweave {

template <>
enum_table<compatibility> enum_names<compatibility>() {
    using enum compatibility;
    static constexpr named_value<compatibility> values[]{
        {none, "none"}, {elephant, "elephant"}, {elephant_ms, "elephant-ms"}};
    return {"compatibility", values};
}

}  // namespace spikeweave
