#include <fmt/format.h>

#include "live/arming/arming.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/live/arming.hpp"

namespace spikeweave {

template <>
enum_table<arming_method> enum_names<arming_method>() {
    using enum arming_method;
    static constexpr named_value<arming_method> values[]{
        {automatic, "auto", "significant in most of the last windows"}};
    return {"method of arming", values};
}

option_list describe(arming_options& options) {
    constexpr double most_windows = 1000;
    option_list list;
    list.begin_group("Triggers");
    list.add(
            "arm", options.arm,
            "auto: also detect episodes while they are significant; that is, in `arm_after` of the "
            "last `arm_windows` windows that do not overlap")
        .basic()
        .by_default("only what `episodes` and `patterns` give");
    list.add("arm_after", options.arm_after,
             "number of windows in which an episode has to be significant before it is detected")
        .at_least(1)
        .at_most(most_windows)
        .only_with("arm")
        .obeys([&options] {
            if (options.arm_after > options.arm_windows)
                throw invalid_argument("arm_after",
                                       fmt::format("{} of the last {} windows are impossible",
                                                   options.arm_after, options.arm_windows));
        });
    list.add("arm_windows", options.arm_windows,
             "number of most recent windows that count for `arm_after`")
        .at_least(1)
        .at_most(most_windows)
        .only_with("arm");
    list.add("max_armed", options.max_armed,
             "largest number of episodes and patterns that are detected at the same time, "
             "including those of `episodes` and `patterns`")
        .at_least(1)
        .only_with("arm");
    return list;
}

namespace live {

option_list describe(arming_settings& settings) {
    option_list list = spikeweave::describe(settings.rule);
    list.add("max_false_alarms", settings.max_false_alarms, "");
    return list;
}

}  // namespace live

}  // namespace spikeweave
