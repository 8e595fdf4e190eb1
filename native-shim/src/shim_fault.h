// Contains faults of foreign code that the shim calls: SIGSEGV, SIGBUS, SIGFPE
// and SIGILL of kernels, on arm64 SIGTRAP too, end their call, not the process.
// Private to the shim.
#ifndef IREE4J_SHIM_FAULT_H_
#define IREE4J_SHIM_FAULT_H_

#include <stdbool.h>

#include "shim.h"

typedef enum shim__access_t {
  SHIM__ACCESS_UNKNOWN,
  SHIM__ACCESS_READ,
  SHIM__ACCESS_WRITE,
  SHIM__ACCESS_EXECUTE,
} shim__access_t;

// Numbers of signals on Linux, for both processors. macOS' signals and Windows'
// exceptions become these.
enum {
  SHIM__SIGNAL_ILL = 4,
  SHIM__SIGNAL_BUS = 7,
  SHIM__SIGNAL_FPE = 8,
  SHIM__SIGNAL_SEGV = 11,
};

// The fault that stopped code.
typedef struct shim__fault_t {
  int32_t signal;  // SHIM__SIGNAL_*
  int32_t code;    // si_code, or the code of the exception
  shim__access_t access;
  uintptr_t address;  // accessed; 0 when |has_address| is false
  bool has_address;
} shim__fault_t;

// The access of a syndrome (ESR) of arm64: class 0x20 or 0x21 for fetches and
// 0x24 or 0x25 for data accesses, where bit 6 marks stores.
static inline shim__access_t shim__syndrome_access(uint64_t syndrome) {
  const uint64_t class = syndrome >> 26 & 0x3E;
  if (class == 0x20) return SHIM__ACCESS_EXECUTE;
  if (class != 0x24) return SHIM__ACCESS_UNKNOWN;
  return syndrome & 64 ? SHIM__ACCESS_WRITE : SHIM__ACCESS_READ;
}

// Of x86_64: string instructions go backwards. Functions begin without.
#define SHIM__DIRECTION_FLAG 0x400

// The stack pointer at the beginning of a function that is called on a stack;
// x86_64 has pushed the address to return to.
static inline uintptr_t shim__stack_of_call(uintptr_t stack) {
#if defined(__x86_64__)
  return (stack & ~(uintptr_t)15) - sizeof(uintptr_t);
#else
  return stack & ~(uintptr_t)15;
#endif
}

// Installs the handler in front of the existing ones, once per signal: for
// SIGSEGV, which views need, or for |all|.
void shim__fault_install(bool all);

// Calls |function|, whose code lies in [begin, end). Returns false, with
// |*out_fault|, when it was stopped: its stores remain, the thread's signal
// mask is restored, its floating-point mode is not. Stops code that faults
// there or in a function called directly from there; passes on any other fault.
// |function| must not hold resources or call this function.
bool shim__fault_catch(uint64_t begin, uint64_t end, void (*function)(void*),
                       void* argument, shim__fault_t* out_fault);

// The status of a fault, by what the caller can do about it.
shim_status_t shim__fault_status(const shim__fault_t* fault);

// Describes the fault, as a phrase that follows "it": "wrote to 0x10, ...".
// |where| describes the address; if NULL, the system's memory map does.
void shim__fault_text(const shim__fault_t* fault, const char* where, char* out,
                      size_t capacity);

// The rights of a mapping, as in "rw-p", and the end of its name.
typedef struct shim__mapping_t {
  char rights[5];
  char name[64];
} shim__mapping_t;

// What the system's memory map says about an address.
typedef enum shim__mapped_t {
  SHIM__MAPPED_NOT,
  SHIM__MAPPED,
  SHIM__MAPPED_UNKNOWN,  // the map cannot be read
} shim__mapped_t;

// The mapping around an address, where there is one.
shim__mapped_t shim__fault_mapping(uintptr_t address,
                                   shim__mapping_t* out_mapping);

// Defined in shim_view.c: makes the window of a view writable in which a store
// faulted. False when the address is in no view, or on failure.
// Async-signal-safe.
bool shim__view_open(uintptr_t address);

#endif  // IREE4J_SHIM_FAULT_H_
