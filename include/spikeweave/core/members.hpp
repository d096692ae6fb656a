#pragma once

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

/// Structs of results whose members are described once: files and Python show them under the same
/// names.
namespace spikeweave {

/// Lists names and members: "size", &episode_level::size, and so on.
template <class Member, class... More>
constexpr auto named_members(const char* name, Member member, const More&... more) {
    const auto first = std::make_tuple(std::pair{name, member});
    if constexpr (sizeof...(more) == 0)
        return first;
    else
        return std::tuple_cat(first, named_members(more...));
}

/// The members of a struct that has such a description, in the order in which they are shown; it
/// specialises this with `named_members`.
template <class Struct>
inline constexpr std::tuple<> members_of{};

template <class Struct>
inline constexpr bool is_described =
    std::tuple_size_v<std::remove_cvref_t<decltype(members_of<Struct>)>> > 0;

/// Calls `visit` with the name and the value of each member.
template <class Struct, class Visit>
void each_member(Struct& value, Visit visit) {
    const auto each = [&](const auto&... one) {
        (visit(one.first, std::invoke(one.second, value)), ...);
    };
    std::apply(each, members_of<std::remove_const_t<Struct>>);
}

}  // namespace spikeweave
