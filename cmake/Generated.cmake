# Man pages and shell completions, written by the program out of its own command tables: build/man/*.1 and
# build/completions/*. A program for another machine cannot be run here, and goes without.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(STATUS "Cross-compiling: no man pages and completions")
    return()
endif()
set(generated_stamp ${CMAKE_BINARY_DIR}/man.stamp)
add_custom_command(OUTPUT ${generated_stamp}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${CMAKE_BINARY_DIR}/man ${CMAKE_BINARY_DIR}/completions
    COMMAND sfumato help --write ${CMAKE_BINARY_DIR}
    COMMAND ${CMAKE_COMMAND} -E touch ${generated_stamp}
    DEPENDS sfumato
    COMMENT "Writing man pages and shell completions")
add_custom_target(generated ALL DEPENDS ${generated_stamp})
