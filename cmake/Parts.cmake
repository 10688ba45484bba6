# Required libraries and optional parts: each is found or reported as missing.
option(SFUMATO_STATIC_DEPS "Link the libraries' archives in, for machines where nothing can be installed" OFF)
set(shared_suffixes ${CMAKE_FIND_LIBRARY_SUFFIXES})
if(SFUMATO_STATIC_DEPS)
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
set(base_libraries Threads::Threads ZLIB::ZLIB OpenSSL::Crypto PkgConfig::JANSSON ${CMAKE_DL_LIBS} m)

# sfumato_part(NAME MODULE PACKAGE PURPOSE): an option SFUMATO_NAME, on if pkg-config finds MODULE, and the definition
# SFU_HAVE_NAME of 0 or 1. With SFUMATO_STATIC_DEPS its archive is needed. A macro, because the variables of pkg-config
# are needed outside.
set(part_definitions "")
macro(sfumato_part name module package purpose)
    option(SFUMATO_${name} "${purpose}" ON)
    set(SFU_HAVE_${name} 0)
    if(SFUMATO_${name})
        pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
        if(${name}_FOUND AND (NOT CMAKE_FIND_LIBRARY_SUFFIXES STREQUAL .a OR "${${name}_LINK_LIBRARIES}" MATCHES "\\.a"))
            set(SFU_HAVE_${name} 1)
        endif()
    endif()
    if(NOT SFU_HAVE_${name})
        message(STATUS "Without ${module}: ${purpose} is left out (Debian: ${package})")
    endif()
    list(APPEND part_definitions SFU_HAVE_${name}=${SFU_HAVE_${name}})
endmacro()

# The soname of a library that is loaded when it is first used (see src/base/core/lazy.h).
function(sfumato_soname variable module)
    foreach(library ${${module}_LINK_LIBRARIES})
        if(library MATCHES "\\.so")
            execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE dump ERROR_QUIET)
            if(dump MATCHES "SONAME +([^\n ]+)")
                set(${variable} ${CMAKE_MATCH_1} PARENT_SCOPE)
                return()
            endif()
        endif()
    endforeach()
    message(FATAL_ERROR "no shared library found for ${module}")
endfunction()

# A part that is loaded at first use, always as a shared library: the definition SFU_NAME_SONAME and its headers.
macro(sfumato_lazy name)
    set(linked_suffixes ${CMAKE_FIND_LIBRARY_SUFFIXES})
    set(CMAKE_FIND_LIBRARY_SUFFIXES ${shared_suffixes})
    sfumato_part(${name} ${ARGN})
    set(CMAKE_FIND_LIBRARY_SUFFIXES ${linked_suffixes})
    if(SFU_HAVE_${name})
        sfumato_soname(soname ${name})
        list(APPEND part_definitions SFU_${name}_SONAME="${soname}")
        include_directories(SYSTEM ${${name}_INCLUDE_DIRS})
    endif()
endmacro()

sfumato_part(ZIP libzip libzip-dev "reading .npz")

set(data_libraries "")
if(SFU_HAVE_ZIP)
    list(APPEND data_libraries PkgConfig::ZIP ZLIB::ZLIB) # an archive of libzip needs zlib after it
endif()
sfumato_lazy(MAT matio libmatio-dev "reading .mat of version 7.3")
sfumato_lazy(CURL libcurl libcurl4-openssl-dev "data get over HTTPS")

set(SFU_HAVE_MPI 0)
if(NOT SFUMATO_STATIC_DEPS AND NOT SKBUILD)
    sfumato_part(MPI mpi-c libopenmpi-dev "trainings over several machines")
else()
    list(APPEND part_definitions SFU_HAVE_MPI=0)
endif()
list(APPEND part_definitions SFU_LIBRARY_FOLDER="${CMAKE_INSTALL_LIBDIR}")

sfumato_part(SQLITE sqlite3>=3.35 libsqlite3-dev "keeping studies in SQLite files")

set(search_libraries "")
if(SFU_HAVE_SQLITE)
    list(APPEND search_libraries PkgConfig::SQLITE)
endif()
sfumato_lazy(POSTGRES libpq libpq-dev "keeping studies in PostgreSQL")
