// Statuses and texts of faults. Calls the memory map of shim_fault.c.
#include <stdio.h>
#include <string.h>

#include "shim_fault.h"

typedef unsigned long long ull;

// Windows keeps the length of a mapped file; only its reading can fail.
#if defined(_WIN32)
#define LOST "a part of a file that cannot be read"
#else
#define LOST "a part of a file that has become shorter"
#endif

shim_status_t shim__fault_status(const shim__fault_t* fault) {
  switch (fault->signal) {
    case SHIM__SIGNAL_BUS:
      return SHIM_DATA_LOSS;
    case SHIM__SIGNAL_ILL:
      return SHIM_INCOMPATIBLE;
    default:
      return SHIM_INTERNAL;
  }
}

static void describe_memory(const shim__fault_t* fault, char* out,
                            size_t capacity) {
  shim__mapping_t mapping;
  switch (shim__fault_mapping(fault->address, &mapping)) {
    case SHIM__MAPPED_NOT:
      snprintf(out, capacity, "where nothing is mapped");
      return;
    case SHIM__MAPPED_UNKNOWN:
      snprintf(out, capacity, "and the memory map cannot be read");
      return;
    default:
      break;
  }
  // The name comes last, and of it the end, because messages are of limited
  // size.
  const char* kind =
      fault->signal == SHIM__SIGNAL_BUS ? LOST
      : mapping.rights[0] != 'r'        ? "inaccessible memory"
      : mapping.rights[1] == 'w'        ? "writable memory"
                                        : "read-only memory";
  const size_t length = strlen(mapping.name);
  const size_t others = strlen(kind) + sizeof(", ''");
  const size_t room = capacity > others ? capacity - others : 0;
  if (length && room) {
    snprintf(out, capacity, "%s, '%s'", kind,
             mapping.name + (length > room ? length - room : 0));
  } else {
    snprintf(out, capacity, "%s", kind);
  }
}

void shim__fault_text(const shim__fault_t* fault, const char* where, char* out,
                      size_t capacity) {
  if (fault->signal == SHIM__SIGNAL_FPE) {
    snprintf(out, capacity,
             "divided an integer by zero, or the smallest one by -1");
    return;
  }
  if (fault->signal == SHIM__SIGNAL_ILL) {
    snprintf(out, capacity,
             "executed an instruction that this processor lacks, or that "
             "marks unreachable code; compile it for this "
             "processor");
    return;
  }
  if (!fault->has_address) {
    snprintf(out, capacity,
             "used a non-canonical address, or a misaligned vector "
             "operand or atomic one");
    return;
  }
  static const char* const verbs[] = {"accessed", "read from", "wrote to",
                                      "jumped to"};
  const int length = snprintf(out, capacity, "%s 0x%llx, %s%s",
                              verbs[fault->access], (ull)fault->address,
                              where ? where : "", where ? ", " : "");
  if (length >= 0 && (size_t)length < capacity) {
    describe_memory(fault, out + length, capacity - (size_t)length);
  }
}
