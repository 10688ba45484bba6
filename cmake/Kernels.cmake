# The SIMD kernels (src/backend/cpu/simd and src/tune/sampler/simd): one source, compiled once per instruction set of
# this architecture; choose.c picks one at run time. The order of IEEE operations does not depend on the flags:
# contraction to fma stays off, and -fno-trapping-math only permits comparisons and selections on all lanes.
file(GLOB kernel_sources CONFIGURE_DEPENDS src/backend/cpu/simd/*.c src/tune/sampler/simd/*.c)
function(sfumato_kernels isa text)
    add_library(kernels_${isa} OBJECT ${kernel_sources})
    target_include_directories(kernels_${isa} PRIVATE src/backend/cpu/simd src/backend/cpu src/tune/sampler)
    target_compile_definitions(kernels_${isa} PRIVATE SFU__ISA=${isa} SFU__ISA_TEXT="${text}")
    target_compile_options(kernels_${isa} PRIVATE $<$<CONFIG:Release>:-O3> -fno-trapping-math ${ARGN})
    target_link_libraries(kernels_${isa} PRIVATE sfumato_flags backend matrix base)
    set_target_properties(kernels_${isa} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    list(APPEND folders kernels_${isa})
    set(folders ${folders} PARENT_SCOPE)
endfunction()

# gcc would move the loads of a register tile so far ahead that it runs out of registers.
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
    set_source_files_properties(src/backend/cpu/simd/gemm.c src/backend/cpu/simd/spmm.c PROPERTIES COMPILE_OPTIONS -fno-schedule-insns)
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    sfumato_kernels(neon neon)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    sfumato_kernels(x86_64_v3 x86-64-v3 -march=x86-64-v3)
    sfumato_kernels(x86_64_v4 x86-64-v4 -march=x86-64-v4)
endif()
