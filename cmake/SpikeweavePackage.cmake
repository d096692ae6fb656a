# Packages of Debian and Ubuntu, made of a finished build: cpack --config build/release/CPackConfig.cmake -B FOLDER
# One has the command with its manual, the other what a C++ program needs.

# With a shared library the command would need the other package, and a project that contains this one has packages of its own.
if(BUILD_SHARED_LIBS OR NOT SPIKEWEAVE_COMMAND OR NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

# A static library leaves its own libraries to the programs that use it.
set(needed libfmt-dev libtbb-dev zlib1g-dev)
if(SPIKEWEAVE_HDF5)
  list(APPEND needed libhdf5-dev)
endif()
if(SPIKEWEAVE_LIVE)
  list(APPEND needed libsimdjson-dev libsqlite3-dev libzmq3-dev)
endif()
if(SPIKEWEAVE_MPI)
  list(APPEND needed libopenmpi-dev)
endif()
list(JOIN needed ", " needed)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_CONTACT "the spikeweave developers")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command Unspecified)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME spikeweave)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "The command spikeweave goes from the voltages of electrodes to sorted spikes, to chains and patterns of neurons that
fire again and again, and to their significance: serial episodes, SPADE, cell assemblies and spike sorting.")
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME libspikeweave-dev)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_DEPENDS "${needed}")
set(CPACK_DEBIAN_UNSPECIFIED_DESCRIPTION "Headers and library: what C++ programs need to search spikes as the command spikeweave does.")

install(FILES LICENSE DESTINATION share/doc/spikeweave RENAME copyright COMPONENT command)
install(FILES LICENSE DESTINATION share/doc/libspikeweave-dev RENAME copyright)
include(CPack)
