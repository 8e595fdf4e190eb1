// Libraries loaded by the system's loader. Private to the shim.
#ifndef IREE4J_SHIM_SYSTEM_IMAGE_H_
#define IREE4J_SHIM_SYSTEM_IMAGE_H_

#include "elf.h"

// A library loaded by the system's loader. All zero for none.
typedef struct shim__system_image_t {
  void* library;  // of dlopen
  int fd;         // its file; open while the library is loaded
} shim__system_image_t;

// Loads a copy of |bytes| with the system's loader, running initializers, and
// describes the mapping: |out_image| borrows that, and needs no release. The
// file is trusted: unlike ours, the system's loader does not defend against
// malicious files.
shim_status_t shim__system_image_load(const void* bytes, size_t size,
                                      const char* symbol,
                                      shim__system_image_t* out_system,
                                      shim__elf_image_t* out_image,
                                      uint64_t* out_address,
                                      shim_error_t* error);

void shim__system_image_release(shim__system_image_t* system);

#endif  // IREE4J_SHIM_SYSTEM_IMAGE_H_
