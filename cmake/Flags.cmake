# Compiler flags of all files of the project.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
# Debug symbols cost nothing at run time; assertions check internal invariants and are off in release builds.
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")

add_library(sfumato_flags INTERFACE)
target_include_directories(sfumato_flags INTERFACE ${CMAKE_SOURCE_DIR}/include)
target_compile_definitions(sfumato_flags INTERFACE _POSIX_C_SOURCE=200809L ${part_definitions})
target_compile_options(sfumato_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
    -Wcast-qual -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wno-format-nonliteral
    # Results must not depend on whether the compiler fuses a*b+c; sqrt needs no errno.
    -ffp-contract=off -fno-math-errno)
# gcc also warns about a variable with the name of a type of the file; clang's warning is the wanted one.
target_compile_options(sfumato_flags INTERFACE $<IF:$<C_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow>)
option(SFUMATO_WERROR "Warnings are errors" ON)
if(SFUMATO_WERROR)
    target_compile_options(sfumato_flags INTERFACE -Werror)
endif()

# The sanitizers and the fuzzer instrument every object, so they are set for the whole project.
option(SFUMATO_SANITIZE "Address and undefined-behaviour sanitizers" OFF)
option(SFUMATO_FUZZ "Build the fuzz targets (clang)" OFF)
if(SFUMATO_SANITIZE)
    set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_compile_options(${sanitizers})
    # Below -O2 gcc ends AVX code with vzeroupper only if told so, and code without AVX that follows takes ten times as
    # long.
    add_compile_options($<$<C_COMPILER_ID:GNU>:-fexpensive-optimizations>)
    add_link_options(${sanitizers})
endif()
if(SFUMATO_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
