// Reads the library description that a loaded image returned. Private to the
// shim.
#ifndef IREE4J_SHIM_CPU_LIBRARY_H_
#define IREE4J_SHIM_CPU_LIBRARY_H_

#include "elf.h"

// One export, copied out of the image and checked.
typedef struct shim__cpu_export_t {
  shim_dispatch_fn_t function;  // in an executable segment
  uint64_t flags;
  uint32_t local_memory_size;
  bool counts_known;  // else constant_count and binding_count are 0
  uint8_t constant_count;
  uint8_t binding_count;
  uint16_t workgroup_size_z;
  uint32_t workgroup_size_x;
  uint32_t workgroup_size_y;
  uint32_t name_length;
  const char* name;  // in a readable segment, NUL-terminated; "" for none
} shim__cpu_export_t;

// A checked library. |exports| is owned by it.
typedef struct shim__cpu_library_t {
  shim__cpu_export_t* exports;
  uint32_t export_count;
  uint32_t import_count;  // all optional, all unresolved
} shim__cpu_library_t;

// Copies the library at run-time |address|. Every pointer in it is checked to
// lie inside |image| before it is followed; later changes of the image's data
// do not matter.
shim_status_t shim__cpu_library_read(const shim__elf_image_t* image,
                                     uint64_t address, size_t constant_count,
                                     shim__cpu_library_t* out_library,
                                     shim_error_t* error);

void shim__cpu_library_release(shim__cpu_library_t* library);

#endif  // IREE4J_SHIM_CPU_LIBRARY_H_
