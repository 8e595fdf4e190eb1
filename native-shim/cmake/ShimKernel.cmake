# shim_add_kernel(name SOURCES file.c... [OPTIONS flag...] [OUTPUT file])
#
# Compiles C into a library that the runtime's ELF loader accepts: what
# iree-compile embeds for embedded-elf-<arch>. docs/native.md explains the flags.
set(SHIM_KERNEL_COMPILE_OPTIONS
  -O2 -fPIC -fvisibility=hidden -ffreestanding -fno-builtin
  -fno-tree-loop-distribute-patterns -fno-stack-protector
  -fno-asynchronous-unwind-tables -fno-math-errno)
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
  add_custom_command(
    OUTPUT ${KERNEL_OUTPUT}
    COMMAND ${CMAKE_C_COMPILER} -std=c11 -shared ${SHIM_KERNEL_COMPILE_OPTIONS}
      ${SHIM_KERNEL_LINK_OPTIONS} ${KERNEL_OPTIONS}
      -I${SHIM_KERNEL_INCLUDE_DIR} -o ${KERNEL_OUTPUT} ${sources}
    DEPENDS ${sources} ${SHIM_KERNEL_INCLUDE_DIR}/shim_cpu_abi.h
    COMMENT "Compiling kernel ${name}"
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${KERNEL_OUTPUT})
endfunction()
