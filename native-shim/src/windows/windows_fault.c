// Windows' handler of faults: a vectored exception handler. Calls nothing of
// the shim.
//
// It is called before all others, those of the JVM among them, which uses
// faults of its own code for null checks, stack banging and safepoint polls;
// whatever is not a fault of a kernel on its guarded call is passed on.
//
// A kernel has no unwinding tables, and nothing unwinds through it: the handler
// lets the thread go on in shim__fault_enter, on the stack pointer from before
// the call, which restores what the caller may expect of a function of Win64.
// So the handler returns as Windows expects, and no handler is left running.
//
// Windows calls handlers on the stack of the thread, directly below its stack
// pointer: what a kernel keeps there (the red zone of the System V convention)
// is lost. That kernel is never continued.
#include "windows/windows_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "shim_fault.h"

typedef struct guard_t {
  uintptr_t stack;  // of shim__fault_enter; it writes this, so it comes first
  uintptr_t begin;  // of the code
  uintptr_t end;
  shim__fault_t* fault;
} guard_t;

_Static_assert(offsetof(guard_t, stack) == 0, "written by assembly");

// The guard of this thread, NULL when it runs no kernel. Windows allocates the
// variables of a library when it loads the library or starts the thread.
static _Thread_local guard_t* volatile current;

static INIT_ONCE once = INIT_ONCE_STATIC_INIT;

// Calls |function| with all registers saved that Win64 preserves, and stores
// the stack pointer in the guard. Returns true; or false when the handler has
// continued the thread at shim__fault_landing.
bool shim__fault_enter(guard_t* guard, void (*function)(void*),
                       void* argument);
void shim__fault_landing(void);

__asm__(
    ".text\n"
    ".globl shim__fault_enter\n"
    ".globl shim__fault_landing\n"
    ".seh_proc shim__fault_enter\n"
    "shim__fault_enter:\n"
    "  pushq %rbx\n  .seh_pushreg %rbx\n"
    "  pushq %rbp\n  .seh_pushreg %rbp\n"
    "  pushq %rdi\n  .seh_pushreg %rdi\n"
    "  pushq %rsi\n  .seh_pushreg %rsi\n"
    "  pushq %r12\n  .seh_pushreg %r12\n"
    "  pushq %r13\n  .seh_pushreg %r13\n"
    "  pushq %r14\n  .seh_pushreg %r14\n"
    "  pushq %r15\n  .seh_pushreg %r15\n"
    // 32 bytes for the called function, 160 for xmm6 to xmm15, 8 for modes.
    "  subq $0xD8, %rsp\n  .seh_stackalloc 0xD8\n"
    "  movaps %xmm6, 0x20(%rsp)\n  .seh_savexmm %xmm6, 0x20\n"
    "  movaps %xmm7, 0x30(%rsp)\n  .seh_savexmm %xmm7, 0x30\n"
    "  movaps %xmm8, 0x40(%rsp)\n  .seh_savexmm %xmm8, 0x40\n"
    "  movaps %xmm9, 0x50(%rsp)\n  .seh_savexmm %xmm9, 0x50\n"
    "  movaps %xmm10, 0x60(%rsp)\n  .seh_savexmm %xmm10, 0x60\n"
    "  movaps %xmm11, 0x70(%rsp)\n  .seh_savexmm %xmm11, 0x70\n"
    "  movaps %xmm12, 0x80(%rsp)\n  .seh_savexmm %xmm12, 0x80\n"
    "  movaps %xmm13, 0x90(%rsp)\n  .seh_savexmm %xmm13, 0x90\n"
    "  movaps %xmm14, 0xA0(%rsp)\n  .seh_savexmm %xmm14, 0xA0\n"
    "  movaps %xmm15, 0xB0(%rsp)\n  .seh_savexmm %xmm15, 0xB0\n"
    "  .seh_endprologue\n"
    "  stmxcsr 0xC0(%rsp)\n"
    "  fnstcw 0xC4(%rsp)\n"
    "  movq %rsp, (%rcx)\n"
    "  movq %r8, %rcx\n"
    "  callq *%rdx\n"
    "  movl $1, %eax\n"
    "  jmp 1f\n"
    "shim__fault_landing:\n"
    "  cld\n"
    "  fninit\n"
    "  fldcw 0xC4(%rsp)\n"
    "  ldmxcsr 0xC0(%rsp)\n"
    "  xorl %eax, %eax\n"
    "1:\n"
    "  movaps 0x20(%rsp), %xmm6\n"
    "  movaps 0x30(%rsp), %xmm7\n"
    "  movaps 0x40(%rsp), %xmm8\n"
    "  movaps 0x50(%rsp), %xmm9\n"
    "  movaps 0x60(%rsp), %xmm10\n"
    "  movaps 0x70(%rsp), %xmm11\n"
    "  movaps 0x80(%rsp), %xmm12\n"
    "  movaps 0x90(%rsp), %xmm13\n"
    "  movaps 0xA0(%rsp), %xmm14\n"
    "  movaps 0xB0(%rsp), %xmm15\n"
    "  addq $0xD8, %rsp\n"
    "  popq %r15\n"
    "  popq %r14\n"
    "  popq %r13\n"
    "  popq %r12\n"
    "  popq %rsi\n"
    "  popq %rdi\n"
    "  popq %rbp\n"
    "  popq %rbx\n"
    "  retq\n"
    ".seh_endproc\n");

//===--------------------------------------------------------------------===//
// The handler
//===--------------------------------------------------------------------===//

static bool is_inside(const guard_t* guard, uintptr_t address) {
  return address >= guard->begin && address < guard->end;
}

// Whether guarded code faulted, or a function called directly from there that
// has pushed nothing, or a jump to where no code is, which may leave no return
// address; on the stack that the code was called on.
static bool is_of(const guard_t* guard, const CONTEXT* context,
                  const shim__fault_t* fault) {
  const uintptr_t stack = context->Rsp;
  if (stack >= guard->stack ||
      stack < (uintptr_t)((NT_TIB*)NtCurrentTeb())->StackLimit) {
    return false;
  }
  return is_inside(guard, context->Rip) ||
         (fault->has_address && fault->address == context->Rip) ||
         is_inside(guard, *(const uintptr_t*)stack);
}

// 0 for exceptions of other kinds.
static int32_t signal_of(DWORD code) {
  switch (code) {
    case EXCEPTION_ACCESS_VIOLATION:
    case EXCEPTION_DATATYPE_MISALIGNMENT:
      return SHIM__SIGNAL_SEGV;
    case EXCEPTION_IN_PAGE_ERROR:
      return SHIM__SIGNAL_BUS;
    case EXCEPTION_INT_DIVIDE_BY_ZERO:
    case EXCEPTION_INT_OVERFLOW:
    case EXCEPTION_FLT_DENORMAL_OPERAND:
    case EXCEPTION_FLT_DIVIDE_BY_ZERO:
    case EXCEPTION_FLT_INEXACT_RESULT:
    case EXCEPTION_FLT_INVALID_OPERATION:
    case EXCEPTION_FLT_OVERFLOW:
    case EXCEPTION_FLT_UNDERFLOW:
      return SHIM__SIGNAL_FPE;
    case EXCEPTION_ILLEGAL_INSTRUCTION:
    case EXCEPTION_PRIV_INSTRUCTION:
      return SHIM__SIGNAL_ILL;
    default:
      return 0;
  }
}

static shim__fault_t fault_of(const EXCEPTION_RECORD* record, int32_t signal) {
  shim__fault_t fault = {.signal = signal,
                         .code = (int32_t)record->ExceptionCode};
  // All ones stand for no address: a non-canonical one or a misaligned vector.
  if ((signal == SHIM__SIGNAL_SEGV || signal == SHIM__SIGNAL_BUS) &&
      record->NumberParameters >= 2 &&
      record->ExceptionInformation[1] != UINTPTR_MAX) {
    const ULONG_PTR kind = record->ExceptionInformation[0];
    fault.has_address = true;
    fault.address = record->ExceptionInformation[1];
    fault.access = kind == 0   ? SHIM__ACCESS_READ
                   : kind == 1 ? SHIM__ACCESS_WRITE
                   : kind == 8 ? SHIM__ACCESS_EXECUTE
                               : SHIM__ACCESS_UNKNOWN;
  }
  return fault;
}

static LONG CALLBACK on_exception(EXCEPTION_POINTERS* exception) {
  guard_t* guard = current;
  if (!guard) return EXCEPTION_CONTINUE_SEARCH;
  const EXCEPTION_RECORD* record = exception->ExceptionRecord;
  CONTEXT* context = exception->ContextRecord;
  const int32_t signal = signal_of(record->ExceptionCode);
  if (signal == 0) return EXCEPTION_CONTINUE_SEARCH;
  const shim__fault_t fault = fault_of(record, signal);
  if (!is_of(guard, context, &fault)) return EXCEPTION_CONTINUE_SEARCH;
  *guard->fault = fault;
  // A fetch from where nothing is mapped may be reported as a read.
  if (guard->fault->has_address && guard->fault->address == context->Rip) {
    guard->fault->access = SHIM__ACCESS_EXECUTE;
  }
  current = NULL;
  context->Rsp = guard->stack;
  context->Rip = (DWORD64)(uintptr_t)shim__fault_landing;
  return EXCEPTION_CONTINUE_EXECUTION;
}

static BOOL CALLBACK install(INIT_ONCE* unused, void* argument, void** result) {
  (void)unused, (void)argument, (void)result;
  // Exceptions may arrive as long as the process lives: the library stays.
  HMODULE self;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                         GET_MODULE_HANDLE_EX_FLAG_PIN,
                     (const wchar_t*)(uintptr_t)on_exception, &self);
  return AddVectoredExceptionHandler(1, on_exception) != NULL;
}

void shim__fault_install(bool all) {
  (void)all;
  InitOnceExecuteOnce(&once, install, NULL, NULL);
}

bool shim__fault_catch(uint64_t begin, uint64_t end, void (*function)(void*),
                       void* argument, shim__fault_t* out_fault) {
  guard_t guard = {.begin = (uintptr_t)begin,
                   .end = (uintptr_t)end,
                   .fault = out_fault};
  current = &guard;
  const bool is_done = shim__fault_enter(&guard, function, argument);
  current = NULL;
  return is_done;
}

//===--------------------------------------------------------------------===//
// The memory map
//===--------------------------------------------------------------------===//

shim__mapped_t shim__fault_mapping(uintptr_t address,
                                   shim__mapping_t* out_mapping) {
  MEMORY_BASIC_INFORMATION info;
  if (!VirtualQuery((const void*)address, &info, sizeof(info)) ||
      info.State == MEM_FREE) {
    return SHIM__MAPPED_NOT;
  }
  const char* rights = "---p";
  if (info.State == MEM_COMMIT && !(info.Protect & PAGE_GUARD)) {
    switch (info.Protect & 0xFF) {
      case PAGE_READONLY:
        rights = "r--p";
        break;
      case PAGE_READWRITE:
      case PAGE_WRITECOPY:
        rights = "rw-p";
        break;
      case PAGE_EXECUTE_READ:
        rights = "r-xp";
        break;
      case PAGE_EXECUTE_READWRITE:
      case PAGE_EXECUTE_WRITECOPY:
        rights = "rwxp";
        break;
      default:
        break;
    }
  }
  memcpy(out_mapping->rights, rights, sizeof(out_mapping->rights));
  out_mapping->name[0] = '\0';
  return SHIM__MAPPED;
}
