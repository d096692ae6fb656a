#pragma once

#include <functional>
#include <string_view>
#include <type_traits>

/// Structs of results whose members are described once: files and Python show them under the same
/// names.
namespace spikeweave {

/// The members of a struct, in the order in which they are shown. It specialises this with a
/// function `list(to)` that calls `to("size", &episode_level::size, "number of units")` for each.
/// The last argument is what the documentation says of a column of a table; a column without it is
/// explained with the one before, and members that are in no table do not need it. A member may
/// also be a function of the struct.
template <class Struct>
struct members_of;

template <class Struct>
concept is_described = requires {
    sizeof(members_of<Struct>);
};

/// Calls `visit` with the name and the value of each member.
template <class Struct, class Visit>
void each_member(Struct& value, Visit visit) {
    members_of<std::remove_const_t<Struct>>::list(
        [&](const char* name, const auto& member, std::string_view /*help*/ = {}) {
            visit(name, std::invoke(member, value));
        });
}

}  // namespace spikeweave
