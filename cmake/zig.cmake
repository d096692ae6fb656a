# A toolchain file for programs that run on other Linux systems than the one that compiles them: with an older glibc, or
# on another processor. zig, a package of PyPI (ziglang), has clang, a static libc++, and the interface of every glibc.
#   cmake --toolchain cmake/zig.cmake -D SPIKEWEAVE_TARGET=aarch64-linux-gnu.2.28 -D CMAKE_PREFIX_PATH=... -B ...
# Libraries are searched only below CMAKE_PREFIX_PATH, never in this system's folders.

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SPIKEWEAVE_TARGET SPIKEWEAVE_ZIG)
find_program(SPIKEWEAVE_ZIG zig REQUIRED)
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR "${SPIKEWEAVE_TARGET}")
set(CMAKE_SYSTEM_NAME Linux)

# CMake and ccache expect a compiler to be one program. zig would otherwise check for undefined behaviour in what is not
# optimized, and would compile libc++ once more for that.
cmake_path(SET zig_tools NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../build/zig/${SPIKEWEAVE_TARGET})
foreach(tool IN ITEMS clang clang++ ar ranlib)
  string(REPLACE "clang" "cc" command "${tool} -target ${SPIKEWEAVE_TARGET} -fno-sanitize=undefined -O2")
  string(REPLACE "cc++" "c++" command "${command}")
  if(tool MATCHES "^(ar|ranlib)$")
    set(command ${tool})
  endif()
  file(CONFIGURE OUTPUT ${zig_tools}/${tool} CONTENT "#!/bin/sh\nexec '${SPIKEWEAVE_ZIG}' ${command} \"$@\"\n" @ONLY)
  file(CHMOD ${zig_tools}/${tool} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
set(CMAKE_C_COMPILER ${zig_tools}/clang)
set(CMAKE_CXX_COMPILER ${zig_tools}/clang++)
set(CMAKE_AR ${zig_tools}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${zig_tools}/ranlib CACHE FILEPATH "")

set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)
set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH OFF)

# Boost 1.74 would take std::result_of, which C++20 and libc++ no longer have.
set(CMAKE_CXX_FLAGS_INIT -DBOOST_ASIO_HAS_STD_INVOKE_RESULT)
