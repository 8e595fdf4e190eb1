// Faults of code that the shim calls and did not write: SIGSEGV, SIGBUS, SIGFPE
// and SIGILL of kernels end their call and not the process. Private to the shim.
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

// How code was stopped.
typedef struct shim__fault_t {
  int32_t signal;
  int32_t code;  // si_code
  shim__access_t access;
  uintptr_t address;  // that was accessed; 0 where |has_address| is false
  bool has_address;
} shim__fault_t;

// Puts the handler in front of those that are there, once for each signal: of
// SIGSEGV, which views need, or of |all|.
void shim__fault_install(bool all);

// Calls |function|, whose code lies in [begin, end). False when it was stopped,
// with how in |*out_fault|: what it has stored stays, and the thread's signal
// mask is as before, its floating point mode is not. What is stopped is what
// faults there or is called from there directly; any other fault is passed on.
// Such a function must hold nothing that would have to be given back, and not
// call this one.
bool shim__fault_catch(uint64_t begin, uint64_t end, void (*function)(void*),
                       void* argument, shim__fault_t* out_fault);

// What the call failed with, by what the caller can do about it.
shim_status_t shim__fault_status(const shim__fault_t* fault);

// Writes what the code did, as what follows "it": "wrote to 0x10, ...". |where|
// says what is known of the address, NULL for nothing; then the system is asked.
void shim__fault_text(const shim__fault_t* fault, const char* where, char* out,
                      size_t capacity);

// Of shim_view.c: makes the window of a view writable in which a store faulted.
// False when the address is in no view, or it cannot. Async-signal-safe.
bool shim__view_open(uintptr_t address);

#endif  // IREE4J_SHIM_FAULT_H_
