# The part for NVIDIA GPUs: nvcc compiles src/backend/cuda/kernels.cu to machine code for sm_80 and sm_90 and to PTX for
# later devices, in one file, kernels.fatbin, which fatbin.c embeds into the library. The driver, libcuda.so.1, is
# loaded at run time, so nothing of CUDA is linked. CMake's own language CUDA is not enabled: it wants to link programs
# for the machine that is built for. nvcc makes code for the GPU alone, so that of this machine also serves builds for
# another architecture.
option(SFUMATO_CUDA "training on NVIDIA GPUs" ON)
set(SFU_HAVE_CUDA 0)
set(cuda_flags -fatbin -O3 --fmad=false -std=c++17 -Xfatbin -compress-all -gencode arch=compute_80,code=sm_80
    -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90)

# sfumato_find_nvcc(): sets SFUMATO_NVCC to an nvcc of CUDA 12 or newer that can compile, cuda_version to "13.0", and
# cuda_missing to what is wrong if there is none.
function(sfumato_find_nvcc)
    find_program(SFUMATO_NVCC NAMES $ENV{CUDACXX} nvcc HINTS $ENV{CUDA_HOME}/bin PATHS /usr/local/cuda/bin
        NO_CMAKE_FIND_ROOT_PATH DOC "The compiler of CUDA")
    if(NOT SFUMATO_NVCC)
        set(cuda_missing "nvcc was not found" PARENT_SCOPE)
        return()
    endif()
    execute_process(COMMAND ${SFUMATO_NVCC} --version OUTPUT_VARIABLE text ERROR_QUIET)
    if(NOT text MATCHES "release ([0-9]+\\.[0-9]+)" OR CMAKE_MATCH_1 VERSION_LESS 12)
        set(cuda_missing "${SFUMATO_NVCC} is not of CUDA 12 or newer" PARENT_SCOPE)
        return()
    endif()
    set(cuda_version ${CMAKE_MATCH_1} PARENT_SCOPE)
    # It also needs a C++ compiler that it accepts. One try per nvcc: it takes seconds.
    if(NOT SFUMATO_NVCC_WORKS STREQUAL "${SFUMATO_NVCC} ${CMAKE_MATCH_1}")
        set(try ${CMAKE_BINARY_DIR}/CMakeFiles/try_nvcc)
        file(WRITE ${try}.cu "extern \"C\" __global__ void try_nvcc(int *to) { *to = 1; }\n")
        execute_process(COMMAND ${SFUMATO_NVCC} ${cuda_flags} -o ${try}.fatbin ${try}.cu
            RESULT_VARIABLE failed OUTPUT_VARIABLE text ERROR_VARIABLE text)
        if(failed)
            string(REGEX REPLACE "\n.*" "" line "${text}")
            set(cuda_missing "${SFUMATO_NVCC} cannot compile: ${line}" PARENT_SCOPE)
            return()
        endif()
        set(SFUMATO_NVCC_WORKS "${SFUMATO_NVCC} ${CMAKE_MATCH_1}" CACHE INTERNAL "The nvcc that compiled a test file")
    endif()
    set(SFU_HAVE_CUDA 1 PARENT_SCOPE)
endfunction()

if(SFUMATO_CUDA)
    sfumato_find_nvcc()
else()
    set(cuda_missing "SFUMATO_CUDA is off")
endif()
list(APPEND part_definitions SFU_HAVE_CUDA=${SFU_HAVE_CUDA})
if(NOT SFU_HAVE_CUDA)
    message(STATUS "Without nvcc: training on NVIDIA GPUs is left out (${cuda_missing})")
    return()
endif()

# Warnings about what differs between C and CUDA C++ are not wanted in the shared headers; the C compiler checks those.
set(cuda_source ${CMAKE_SOURCE_DIR}/src/backend/cuda/kernels.cu)
set(cuda_fatbin ${CMAKE_BINARY_DIR}/cuda/kernels.fatbin)
set(cuda_includes "")
foreach(folder include src/backend src/backend/cpu src/backend/cuda src/base/core src/base/math src/matrix)
    list(APPEND cuda_includes -I${CMAKE_SOURCE_DIR}/${folder})
endforeach()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/cuda)
add_custom_command(OUTPUT ${cuda_fatbin}
    COMMAND ${SFUMATO_NVCC} ${cuda_flags} ${cuda_includes} -MD -MF ${cuda_fatbin}.d -o ${cuda_fatbin} ${cuda_source}
    DEPENDS ${cuda_source} DEPFILE ${cuda_fatbin}.d
    COMMENT "Compiling kernels.cu for NVIDIA GPUs" VERBATIM)
set_source_files_properties(src/backend/cuda/fatbin.c PROPERTIES OBJECT_DEPENDS ${cuda_fatbin}
    COMPILE_DEFINITIONS "SFU__FATBIN_FILE=\"${cuda_fatbin}\";SFU__FATBIN_CUDA=\"${cuda_version}\"")
