# Installs one form of the library into an empty folder, and builds and runs a program that uses only this folder: once
# with CMake, and once with pkg-config and the compiler alone.
# Usage: cmake -D form=static|shared -D main_form=... -D build=... -D tests=... -D scratch=... -D compiler=...
#   -D libdir=... -D python=... -D pkg_config=... -D soname=... -P package_test.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${scratch})
if(form STREQUAL main_form)
  run(${CMAKE_COMMAND} --install ${build} --prefix ${scratch}/installed)
else()
  run(${CMAKE_COMMAND} --build ${build} --target spikeweave_other_form)
  run(${CMAKE_COMMAND} --install ${build} --prefix ${scratch}/installed --component spikeweave_other_form)
endif()
# The package has to work after it was moved.
set(prefix ${scratch}/package)
file(RENAME ${scratch}/installed ${prefix})
if(form STREQUAL main_form)
  run(${prefix}/bin/spikeweave --version)
  foreach(file IN ITEMS share/man/man1/spikeweave.1 share/man/man1/spikeweave-episodes.1 share/bash-completion/completions/spikeweave
      share/zsh/site-functions/_spikeweave share/fish/vendor_completions.d/spikeweave.fish)
    file(SIZE ${prefix}/${file} bytes)
    if(bytes LESS 1000)
      message(FATAL_ERROR "${file} has ${bytes} bytes")
    endif()
  endforeach()
endif()

run(${CMAKE_COMMAND} -G Ninja -S ${tests}/client -B ${scratch}/client
  -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${compiler})
run(${CMAKE_COMMAND} --build ${scratch}/client)
run(${scratch}/client/client)

set(ENV{PKG_CONFIG_PATH} ${prefix}/${libdir}/pkgconfig)
set(static "")
if(form STREQUAL "static")
  set(static --static)
endif()
run(${pkg_config} ${static} --cflags --libs spikeweave)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${compiler} -std=c++20 ${tests}/client/main.cpp -o ${scratch}/client_by_pkg_config ${flags})
set(ENV{LD_LIBRARY_PATH} ${prefix}/${libdir})
run(${scratch}/client_by_pkg_config)

if(form STREQUAL "shared")
  run(readelf --dynamic ${scratch}/client_by_pkg_config)
  string(FIND "${output}" "Shared library: [${soname}]" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "the program does not ask for ${soname}:\n${output}")
  endif()
  run(${python} ${tests}/check_exports.py ${prefix}/${libdir}/${soname} ${prefix}/include)
  message("${output}")
endif()
