// What views need of sealed memory on Windows. Private to the shim.
#ifndef IREE4J_SHIM_WINDOWS_MEMORY_H_
#define IREE4J_SHIM_WINDOWS_MEMORY_H_

#include <stdbool.h>

#include "shim_file.h"
#include "windows/windows_error.h"

// Windows gives out reservations, and maps sections, at multiples of this.
#define SHIM__WINDOWS_GRANULE ((uint64_t)64 << 10)

// The section of sealed memory, open as long as the memory.
HANDLE shim__windows_section(const shim_sealed_t* sealed);

// Whether stores into copy-on-write mappings can be found.
bool shim__windows_has_views(void);

#endif  // IREE4J_SHIM_WINDOWS_MEMORY_H_
