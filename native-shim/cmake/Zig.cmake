# Cross-compiles with Zig's C compiler, which has headers and stubs of every
# libc: one tool, of one version, makes the library of each platform, so that
# the bytes do not depend on the machine. IREE4J_ZIG names the program,
# SHIM_ZIG_TARGET the platform; bin/build-natives sets both.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SHIM_ZIG_TARGET)
if(NOT SHIM_ZIG_TARGET)
  message(FATAL_ERROR "name the platform: -DSHIM_ZIG_TARGET=aarch64-linux-musl")
endif()
if(SHIM_ZIG_TARGET MATCHES "windows")
  set(CMAKE_SYSTEM_NAME Windows)
elseif(SHIM_ZIG_TARGET MATCHES "macos")
  set(CMAKE_SYSTEM_NAME Darwin)
  # CMake must not look for Apple's kit: Zig has the headers and stubs.
  set(CMAKE_OSX_SYSROOT "" CACHE STRING "" FORCE)
  set(CMAKE_OSX_ARCHITECTURES "" CACHE STRING "" FORCE)
else()
  set(CMAKE_SYSTEM_NAME Linux)
endif()
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${SHIM_ZIG_TARGET})
set(zig $ENV{IREE4J_ZIG})
if(NOT zig)
  message(FATAL_ERROR "IREE4J_ZIG does not name Zig; see bin/find-zig")
endif()
set(CMAKE_C_COMPILER ${zig} cc -target ${SHIM_ZIG_TARGET})
if(SHIM_ZIG_TARGET MATCHES "musl$")
  # Zig would link tests with a libc inside, which loads no libraries.
  set(CMAKE_EXE_LINKER_FLAGS_INIT -dynamic)
endif()
# Kernels are ELF files of the System V convention on every system.
set(SHIM_KERNEL_COMPILER ${CMAKE_C_COMPILER})
if(SHIM_ZIG_TARGET MATCHES "windows|macos")
  set(SHIM_KERNEL_COMPILER
    ${zig} cc -target ${CMAKE_SYSTEM_PROCESSOR}-linux-musl)
endif()
# Kernels are linked without libc, with flags that Zig's driver does not pass on.
set(SHIM_KERNEL_LINKER ${zig} ld.lld)
