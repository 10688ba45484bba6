# `make install`: the program, the static and the shared library, and the files for compilers, pkg-config, CMake, man
# and shells. The installation can be moved as a whole: no file has an absolute path.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sfumato)

install(TARGETS sfumato)
if(SFU_HAVE_MPI)
    install(TARGETS sfumato_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sfumato)
endif()
install(FILES include/sfumato.h include/sfumato_paper.h TYPE INCLUDE)
install(FILES LICENSE README.md CHANGELOG.md TYPE DOC OPTIONAL)
install(DIRECTORY docs/ TYPE DOC OPTIONAL FILES_MATCHING PATTERN "*.md")

# Two sets of targets: the shared library does not require its own dependencies at link time.
foreach(kind shared static)
    install(TARGETS sfumato_${kind} EXPORT sfumato_${kind})
    install(EXPORT sfumato_${kind} DESTINATION ${package_folder} NAMESPACE sfumato:: FILE sfumato-${kind}.cmake)
endforeach()
configure_package_config_file(cmake/sfumatoConfig.cmake.in sfumatoConfig.cmake INSTALL_DESTINATION ${package_folder}
    NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# In versions 0.x a minor version may break binary compatibility, as the soname says.
write_basic_package_version_file(sfumatoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sfumatoConfig.cmake ${CMAKE_BINARY_DIR}/sfumatoConfigVersion.cmake
    DESTINATION ${package_folder})

# pkg-config finds the prefix from the location of its file. libzip is named as a library, not as a module: its own
# file requires -lbz2, which Debian does not install with it and which is not needed with the shared libzip.
set(pc_zip "")
if(SFU_HAVE_ZIP)
    set(pc_zip "-lzip ")
endif()
set(pc_sqlite "")
if(SFU_HAVE_SQLITE)
    set(pc_sqlite "-lsqlite3 ")
endif()
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
    OUTPUT_VARIABLE pc_up)
configure_file(cmake/sfumato.pc.in sfumato.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/sfumato.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Generated during the build from the command table.
install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL
    FILES_MATCHING PATTERN "*.1")
set(completions ${CMAKE_BINARY_DIR}/completions)
install(FILES ${completions}/sfumato.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME sfumato OPTIONAL)
install(FILES ${completions}/_sfumato DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
install(FILES ${completions}/sfumato.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
