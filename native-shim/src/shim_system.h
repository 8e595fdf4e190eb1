// What the shim needs of an operating system apart from the interface itself:
// shim_linux.c, and windows/windows_memory.c and windows/windows_thread.c.
// Private to the shim.
#ifndef IREE4J_SHIM_SYSTEM_H_
#define IREE4J_SHIM_SYSTEM_H_

#include <stddef.h>
#include <stdint.h>

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

// Gives reserved pages these rights. The pages are zero at first. Returns 0 or
// an errno.
int shim__system_allow(void* pages, uint64_t size, int rights);

// Ends a reservation of |size| bytes.
void shim__system_release(uint8_t* reserved, uint64_t size);

// malloc at multiples of 64 bytes; |size| is such a multiple.
void* shim__system_lines(size_t size);
void shim__system_free_lines(void* lines);

// Before this thread calls a kernel: sees to stack that the kernel can use from
// its deep end. Linux sees to stack by itself.
#if defined(_WIN32)
void shim__system_prepare_stack(void);
#else
static inline void shim__system_prepare_stack(void) {}
#endif

#endif  // IREE4J_SHIM_SYSTEM_H_
