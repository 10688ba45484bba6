# Building on Debian for its other architecture: -DCROSS_TRIPLE=x86_64-linux-gnu or aarch64-linux-gnu, with the
# compiler of that name and the libraries that `dpkg --add-architecture` makes available. The result runs in qemu.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CROSS_TRIPLE)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${CROSS_TRIPLE})
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${CROSS_TRIPLE}-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE ${CROSS_TRIPLE})
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CMAKE_SYSTEM_PROCESSOR})
# Only the pkg-config files of that architecture: those of this machine would be found first.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/${CROSS_TRIPLE}/pkgconfig:/usr/share/pkgconfig)
