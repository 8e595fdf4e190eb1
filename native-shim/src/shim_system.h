// What the shim needs of an operating system apart from the interface itself:
// shim_posix.c with shim_linux.c or macos/macos_system.c, and
// windows/windows_memory.c and windows/windows_thread.c. Private to the shim.
#ifndef IREE4J_SHIM_SYSTEM_H_
#define IREE4J_SHIM_SYSTEM_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim.h"

// Rights to pages of memory. Writing and executing imply reading.
enum {
  SHIM__RIGHT_READ = 1,
  SHIM__RIGHT_WRITE = 2,
  SHIM__RIGHT_EXECUTE = 4,
};

// Bytes of a page, the unit of rights.
uint64_t shim__system_page_size(void);

// Reserves |size| bytes of address space without rights, at an address that is
// |remainder| modulo |alignment|, a power of two; all are whole pages. NULL,
// with |*out_code|, an errno, on failure.
uint8_t* shim__system_reserve(uint64_t size, uint64_t alignment,
                              uint64_t remainder, int* out_code);

// Gives reserved pages these rights. The pages are zero at first; written ones
// can be fetched as instructions once they are executable. Returns 0 or an
// errno.
int shim__system_allow(void* pages, uint64_t size, int rights);

// Ends a reservation of |size| bytes.
void shim__system_release(uint8_t* reserved, uint64_t size);

// The huge page of x86-64, and of arm64 with pages of 4 KiB. With larger pages
// huge ones are larger, and advice about them may have no effect.
#define SHIM__LARGE_PAGE ((uint64_t)2 << 20)

// Linux and macOS: commits writable pages here rather than at the first store,
// as huge ones where the system has them. Returns 0 or an errno.
int shim__system_commit(uint8_t* pages, uint64_t size);

// The same by a store into each page, on any system.
static inline void shim__system_touch(uint8_t* pages, uint64_t size) {
  const uint64_t page = shim__system_page_size();
  for (uint64_t i = 0; i < size; i += page) ((volatile uint8_t*)pages)[i] = 0;
}

// Linux and macOS: maps |size| bytes of zeros for shim_sealed_create, with the
// file that views map again; -1 on a system without views.
shim_status_t shim__system_sealable(uint64_t size, int* out_fd,
                                    void** out_bytes, shim_error_t* error);

// Whether the system's loader, with the text |cause| of dlerror, found no
// library |name|: otherwise there is one that does not load.
bool shim__system_lacks(const char* name, const char* cause);

// malloc at multiples of 64 bytes; |size| is such a multiple.
void* shim__system_lines(size_t size);
void shim__system_free_lines(void* lines);

// Before this thread calls a kernel: sees to stack that the kernel can use from
// its deep end. Linux and macOS see to stack by themselves.
#if defined(_WIN32)
void shim__system_prepare_stack(void);
#else
static inline void shim__system_prepare_stack(void) {}
#endif

#endif  // IREE4J_SHIM_SYSTEM_H_
