// What macOS has in its own way: committed memory, the map of the process,
// threads without affinity. Calls shim_status.c only.
//
// Rights to pages are POSIX's (shim_posix.c). Code gets them by mprotect, which
// Apple's arm64 allows for memory that is not writable at the same time, as the
// loader wants it. MAP_JIT would serve programs without the entitlement to
// unsigned executable memory, which JDKs have; but rights within such a mapping
// belong to threads, and an image has data that kernels write.
#include <errno.h>
#include <libproc.h>
#include <mach/mach.h>
#include <mach/vm_region.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim_fault.h"
#include "shim_system.h"

typedef unsigned long long ull;

//===--------------------------------------------------------------------===//
// Memory
//===--------------------------------------------------------------------===//

// Without huge pages: x86_64 asks for huge pages in other ways, arm64 has
// none.
int shim__system_commit(uint8_t* pages, uint64_t size) {
  shim__system_touch(pages, size);
  return 0;
}

shim_status_t shim__system_sealable(uint64_t size, int* out_fd,
                                    void** out_bytes, shim_error_t* error) {
  void* bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED) {
    const int code = errno;
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                          "no memory for %llu bytes: errno %d", (ull)size,
                          code);
  }
  *out_fd = -1;
  *out_bytes = bytes;
  return SHIM_OK;
}

//===--------------------------------------------------------------------===//
// The memory map
//===--------------------------------------------------------------------===//

shim__mapped_t shim__fault_mapping(uintptr_t address,
                                   shim__mapping_t* out_mapping) {
  vm_address_t begin = address;
  vm_size_t size = 0;
  vm_region_basic_info_data_64_t info;
  mach_msg_type_number_t count = VM_REGION_BASIC_INFO_COUNT_64;
  mach_port_t object = MACH_PORT_NULL;
  // Finds the next region where there is none.
  if (vm_region_64(mach_task_self(), &begin, &size, VM_REGION_BASIC_INFO_64,
                   (vm_region_info_t)&info, &count,
                   &object) != KERN_SUCCESS ||
      begin > address) {
    return SHIM__MAPPED_NOT;
  }
  out_mapping->rights[0] = info.protection & VM_PROT_READ ? 'r' : '-';
  out_mapping->rights[1] = info.protection & VM_PROT_WRITE ? 'w' : '-';
  out_mapping->rights[2] = info.protection & VM_PROT_EXECUTE ? 'x' : '-';
  out_mapping->rights[3] = info.shared ? 's' : 'p';
  out_mapping->rights[4] = '\0';
  char name[PROC_PIDPATHINFO_MAXSIZE];
  const int length =
      proc_regionfilename(getpid(), address, name, sizeof(name) - 1);
  const size_t filled = length > 0 ? (size_t)length : 0;
  const size_t room = sizeof(out_mapping->name) - 1;
  const size_t cut = filled > room ? filled - room : 0;
  memcpy(out_mapping->name, name + cut, filled - cut);
  out_mapping->name[filled - cut] = '\0';
  return SHIM__MAPPED;
}

//===--------------------------------------------------------------------===//
// The calling thread
//===--------------------------------------------------------------------===//

static shim_status_t no_affinity(shim_error_t* error) {
  return shim_error_set(error, SHIM_UNIMPLEMENTED, 0,
                        "macOS has no affinity of threads to processors");
}

shim_status_t shim_thread_set_affinity(const uint64_t* mask, size_t word_count,
                                       shim_error_t* error) {
  (void)mask, (void)word_count;
  return no_affinity(error);
}

shim_status_t shim_thread_affinity(uint64_t* out_mask, size_t word_count,
                                   shim_error_t* error) {
  memset(out_mask, 0, word_count * sizeof(out_mask[0]));
  return no_affinity(error);
}
