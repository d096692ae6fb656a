#pragma once

#include <functional>
#include <type_traits>

/// Structs of results whose members are described once: files and Python show them under the same
/// names.
namespace spikeweave {

/// The members of a struct, in the order in which they are shown. It specialises this with a
/// function `list(to)` that calls `to("size", &episode_level::size, ...)`.
template <class Struct>
struct members_of;

template <class Struct>
concept is_described = requires {
    sizeof(members_of<Struct>);
};

/// Calls `visit` with each name and what is named: "size", &episode_level::size, and so on.
template <class Visit, class Named, class... More>
void each_named(const Visit& visit, const char* name, const Named& named, const More&... more) {
    visit(name, named);
    if constexpr (sizeof...(more) > 0) each_named(visit, more...);
}

/// Calls `visit` with the name and the value of each member.
template <class Struct, class Visit>
void each_member(Struct& value, Visit visit) {
    const auto one = [&](const char* name, const auto& member) {
        visit(name, std::invoke(member, value));
    };
    members_of<std::remove_const_t<Struct>>::list(
        [&](const auto&... all) { each_named(one, all...); });
}

}  // namespace spikeweave
