# shim_add_kernel(name SOURCES file.c... [OPTIONS flag...] [OUTPUT file])
#
# Compiles C into a library that the runtime's ELF loader accepts: what
# iree-compile embeds for embedded-elf-<arch>. docs/native.md explains the flags.
set(SHIM_KERNEL_COMPILE_OPTIONS
  -O2 -fPIC -fvisibility=hidden -ffreestanding -fno-builtin
  -fno-stack-protector -fno-asynchronous-unwind-tables -fno-math-errno)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # Clang makes no calls of memset from loops with -fno-builtin.
  list(APPEND SHIM_KERNEL_COMPILE_OPTIONS -fno-tree-loop-distribute-patterns)
endif()
set(SHIM_KERNEL_LINK_OPTIONS
  -nostdlib -Wl,--hash-style=sysv,--no-undefined,-z,text,-z,noexecstack
  -Wl,-z,separate-code,-z,nopack-relative-relocs,--build-id=none)
set(SHIM_KERNEL_INCLUDE_DIR ${CMAKE_CURRENT_LIST_DIR}/../include)

function(shim_add_kernel name)
  cmake_parse_arguments(KERNEL "" "OUTPUT" "SOURCES;OPTIONS" ${ARGN})
  if(NOT KERNEL_OUTPUT)
    set(KERNEL_OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.so)
  endif()
  set(sources)
  foreach(source IN LISTS KERNEL_SOURCES)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND sources ${source})
  endforeach()
  # Not a CMake library: sanitizers and the flags of the host must not apply.
  # Arguments of the compiler are one string; paths may have spaces.
  separate_arguments(arguments UNIX_COMMAND "${CMAKE_C_COMPILER_ARG1}")
  set(compiler ${CMAKE_C_COMPILER} ${arguments})
  if(SHIM_KERNEL_COMPILER)
    set(compiler ${SHIM_KERNEL_COMPILER})
  endif()
  set(compile ${compiler} -std=c11
    ${SHIM_KERNEL_COMPILE_OPTIONS} -I${SHIM_KERNEL_INCLUDE_DIR})
  if(SHIM_KERNEL_LINKER)
    # The linker itself takes what compilers take after -Wl.
    set(own ${SHIM_KERNEL_LINK_OPTIONS} ${KERNEL_OPTIONS})
    list(FILTER own INCLUDE REGEX "^-Wl,")
    string(REPLACE "-Wl," "" own "${own}")
    string(REGEX REPLACE "(^|[;,])-z," "\\1-z;" own "${own}")
    string(REPLACE "," ";" own "${own}")
    set(defined ${KERNEL_OPTIONS})
    list(FILTER defined EXCLUDE REGEX "^-Wl,")
    set(commands
      COMMAND ${compile} ${defined} -c -o ${KERNEL_OUTPUT}.o ${sources}
      COMMAND ${SHIM_KERNEL_LINKER} -shared ${own} -o ${KERNEL_OUTPUT}
        ${KERNEL_OUTPUT}.o)
  else()
    set(commands
      COMMAND ${compile} -shared ${SHIM_KERNEL_LINK_OPTIONS} ${KERNEL_OPTIONS}
        -o ${KERNEL_OUTPUT} ${sources})
  endif()
  add_custom_command(
    OUTPUT ${KERNEL_OUTPUT}
    ${commands}
    DEPENDS ${sources} ${SHIM_KERNEL_INCLUDE_DIR}/shim_cpu_abi.h
    COMMENT "Compiling kernel ${name}"
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${KERNEL_OUTPUT})
endfunction()
