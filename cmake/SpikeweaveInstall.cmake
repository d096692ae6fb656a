# Installs the library and its headers, with the files that find_package and pkg-config read.
include(CMakePackageConfigHelpers)

# spikeweave_static_needs(REQUIRES LIBS): sets both to what programs link besides a static library, for its .pc file: the
# pkg-config packages, and the files of libraries whose packages have different names on different systems.
function(spikeweave_static_needs requires libs)
  list(TRANSFORM CMAKE_DL_LIBS PREPEND -l OUTPUT_VARIABLE files)
  if(SPIKEWEAVE_HDF5)
    list(APPEND files ${HDF5_C_LIBRARIES})
  endif()
  if(SPIKEWEAVE_MPI)
    list(APPEND files ${MPI_C_LIBRARIES})
  endif()
  if(SPIKEWEAVE_CUDA)
    get_target_property(cudart CUDA::cudart_static IMPORTED_LOCATION)
    list(APPEND files ${cudart} -lrt -lpthread)
  endif()
  if(SPIKEWEAVE_LIVE)  # its own package asks for what a static libzmq needs, of which Debian lacks a part
    list(APPEND files ${SPIKEWEAVE_ZMQ_LIBRARY})
  endif()
  list(JOIN files " " files)
  set(packages "fmt tbb zlib")
  if(SPIKEWEAVE_LIVE)
    string(APPEND packages " simdjson sqlite3")
  endif()
  set(${requires} ${packages} PARENT_SCOPE)
  set(${libs} "${files}" PARENT_SCOPE)
endfunction()

# spikeweave_install(TARGET [OPTION...]): installs a form of the library as a package. The options are added to every
# install() command. The CMake files of the other form have a folder of their own, because two exports with the same
# file name cannot share one; find_package searches both folders.
function(spikeweave_install target)
  set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/spikeweave)
  if(NOT target STREQUAL "spikeweave")
    string(APPEND cmake_folder -${target})
  endif()
  set(made ${PROJECT_BINARY_DIR}/package/${target})
  get_target_property(type ${target} TYPE)
  string(COMPARE EQUAL ${type} "STATIC_LIBRARY" static)

  install(TARGETS ${target} EXPORT ${target}Targets ${ARGN} FILE_SET HEADERS)
  install(EXPORT ${target}Targets FILE spikeweaveTargets.cmake NAMESPACE spikeweave:: DESTINATION ${cmake_folder} ${ARGN})
  configure_package_config_file(cmake/spikeweaveConfig.cmake.in ${made}/spikeweaveConfig.cmake
    INSTALL_DESTINATION ${cmake_folder})
  write_basic_package_version_file(${made}/spikeweaveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${made}/spikeweaveConfig.cmake ${made}/spikeweaveConfigVersion.cmake DESTINATION ${cmake_folder} ${ARGN})

  set(pc_folder ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${pc_folder} OUTPUT_VARIABLE up)
  set(libdir "\${prefix}")  # An absolute CMAKE_INSTALL_LIBDIR replaces it.
  cmake_path(APPEND libdir ${CMAKE_INSTALL_LIBDIR})
  set(includedir "\${prefix}")
  cmake_path(APPEND includedir ${CMAKE_INSTALL_INCLUDEDIR})
  set(requires_private "")
  set(libs_private "")
  if(static)
    spikeweave_static_needs(requires_private libs_private)
  endif()
  configure_file(cmake/spikeweave.pc.in ${made}/spikeweave.pc @ONLY)
  install(FILES ${made}/spikeweave.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${ARGN})
endfunction()
