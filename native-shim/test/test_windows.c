// What differs on Windows: the convention of kernels, faults, memory, files,
// and what is missing.
#include "windows/windows_error.h"

#include <process.h>
#include <stdbool.h>

#include "shim_file.h"
#include "shim_gpu.h"
#include "shim_system.h"
#include "shim_vulkan.h"
#include "test.h"
#include "windows/dlfcn.h"

enum { PAGE = 4096 };

static shim_status_t open_by(const char* kernel, uint32_t flags,
                             shim_cpu_executable_t** out_executable,
                             shim_error_t* error) {
  return open_executable(kernel,
                         (shim_cpu_executable_params_t){.flags = flags},
                         out_executable, error);
}

static shim_cpu_executable_t* open_kernel(const char* kernel) {
  shim_cpu_executable_t* executable = NULL;
  CHECK_OK(open_by(kernel, 0, &executable, &error));
  return executable;
}

// Runs one workgroup with an address in its constants, and a third constant 0.
static shim_status_t run(shim_cpu_executable_t* executable, uint32_t ordinal,
                         const volatile void* address, void* binding,
                         shim_error_t* error) {
  uint32_t constants[3] = {(uint32_t)(uintptr_t)address,
                           (uint32_t)((uintptr_t)address >> 32), 0};
  size_t length = 64;
  shim_dispatch_state_t state = {.workgroup_count_x = 1,
                                 .workgroup_count_y = 1,
                                 .workgroup_count_z = 1,
                                 .constant_count = 3,
                                 .binding_count = 1,
                                 .constants = constants,
                                 .binding_ptrs = &binding,
                                 .binding_lengths = &length};
  shim_cpu_dispatch_t dispatch = {
      .ordinal = ordinal, .state = &state, .begin = 0, .end = 1};
  return shim_cpu_executable_dispatch(executable, &dispatch, error);
}

//===--------------------------------------------------------------------===//
// The convention
//===--------------------------------------------------------------------===//

// Of convention.c.
enum {
  CHANGE_REGISTERS,
  CHANGE_ALL_AND_FAULT,
  USE_RED_ZONE,
  USE_DEEP_STACK,
  READ_THREAD_BLOCK,
  CALL_HOST,
};

// What Win64 preserves, after a call with other values in it.
typedef struct preserved_t {
  uint64_t vectors[10][2];  // xmm6 to xmm15
  uint64_t words[8];        // rbx, rbp, rdi, rsi, r12 to r15
  uint64_t flags;
} preserved_t;

_Static_assert(offsetof(preserved_t, words) == 160, "stored by assembly");
_Static_assert(offsetof(preserved_t, flags) == 224, "stored by assembly");

// Puts 6 to 15 into both halves of the vectors and 1 to 8 into the words, calls
// |function|, and stores what is there then.
void call_with_values(void (*function)(void*), void* argument,
                      preserved_t* out_after);

#define PUT(number)                                   \
  "  movq $" #number ", %rax\n"                       \
  "  movq %rax, %xmm" #number "\n"                    \
  "  punpcklqdq %xmm" #number ", %xmm" #number "\n"
#define SAVE(number, at) "  movups %xmm" #number ", " #at "(%rsp)\n"
#define LOAD(number, at) "  movups " #at "(%rsp), %xmm" #number "\n"
#define STORE(number, at) "  movups %xmm" #number ", " #at "(%r10)\n"

__asm__(
    ".text\n"
    ".globl call_with_values\n"
    "call_with_values:\n"
    "  pushq %rbx\n  pushq %rbp\n  pushq %rdi\n  pushq %rsi\n"
    "  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  subq $0xD8, %rsp\n" SAVE(6, 0x20) SAVE(7, 0x30) SAVE(8, 0x40)
        SAVE(9, 0x50) SAVE(10, 0x60) SAVE(11, 0x70) SAVE(12, 0x80)
            SAVE(13, 0x90) SAVE(14, 0xA0) SAVE(15, 0xB0)
    "  movq %r8, 0xC0(%rsp)\n"
    "  movq %rcx, %r9\n"
    "  movq %rdx, %rcx\n" PUT(6) PUT(7) PUT(8) PUT(9) PUT(10) PUT(11) PUT(12)
        PUT(13) PUT(14) PUT(15)
    "  movq $1, %rbx\n  movq $2, %rbp\n  movq $3, %rdi\n  movq $4, %rsi\n"
    "  movq $5, %r12\n  movq $6, %r13\n  movq $7, %r14\n  movq $8, %r15\n"
    "  callq *%r9\n"
    "  movq 0xC0(%rsp), %r10\n" STORE(6, 0) STORE(7, 16) STORE(8, 32)
        STORE(9, 48) STORE(10, 64) STORE(11, 80) STORE(12, 96) STORE(13, 112)
            STORE(14, 128) STORE(15, 144)
    "  movq %rbx, 160(%r10)\n  movq %rbp, 168(%r10)\n"
    "  movq %rdi, 176(%r10)\n  movq %rsi, 184(%r10)\n"
    "  movq %r12, 192(%r10)\n  movq %r13, 200(%r10)\n"
    "  movq %r14, 208(%r10)\n  movq %r15, 216(%r10)\n"
    "  pushfq\n  popq 224(%r10)\n" LOAD(6, 0x20) LOAD(7, 0x30) LOAD(8, 0x40)
        LOAD(9, 0x50) LOAD(10, 0x60) LOAD(11, 0x70) LOAD(12, 0x80)
            LOAD(13, 0x90) LOAD(14, 0xA0) LOAD(15, 0xB0)
    "  cld\n"
    "  addq $0xD8, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n"
    "  popq %rsi\n  popq %rdi\n  popq %rbp\n  popq %rbx\n"
    "  retq\n");

typedef struct call_t {
  shim_cpu_executable_t* executable;
  uint32_t ordinal;
  shim_status_t status;
} call_t;

static void run_call(void* argument) {
  call_t* call = argument;
  _Alignas(64) uint8_t bound[64] = {0};
  call->status = run(call->executable, call->ordinal, NULL, bound, NULL);
}

static void check_preserved(uint32_t ordinal, shim_status_t expected) {
  call_t call = {.executable = open_kernel("convention"), .ordinal = ordinal};
  preserved_t after;
  memset(&after, 0, sizeof(after));
  call_with_values(run_call, &call, &after);
  CHECK_EQ(call.status, expected);
  for (uint64_t i = 0; i < 10; ++i) {
    CHECK_EQ(after.vectors[i][0], i + 6);
    CHECK_EQ(after.vectors[i][1], i + 6);
  }
  for (uint64_t i = 0; i < 8; ++i) CHECK_EQ(after.words[i], i + 1);
  CHECK(!(after.flags & 0x400));  // the direction
  CHECK_EQ(shim_thread_flushes_denormals(), 0);
  volatile float more = 0x1.8p-24f;
  CHECK(1 + more == 1 + 0x1p-23f);  // rounded to the nearest
  volatile long double one = 1;
  CHECK(one + one == 2);  // the x87 stack has room
  shim_cpu_executable_release(call.executable);
}

static void registers_of_win64_survive_a_kernel(void) {
  check_preserved(CHANGE_REGISTERS, SHIM_OK);
}

static void registers_of_win64_survive_a_fault(void) {
  for (int i = 0; i < 10; ++i) {
    check_preserved(CHANGE_ALL_AND_FAULT, SHIM_INTERNAL);
  }
}

static void kernels_may_use_the_red_zone(void) {
  shim_cpu_executable_t* executable = open_kernel("convention");
  _Alignas(64) uint64_t bound[8] = {0};
  CHECK_OK(run(executable, USE_RED_ZONE, NULL, bound, &error));
  CHECK_EQ(bound[0], 600000);
  shim_cpu_executable_release(executable);
}

// Bytes of stack below this frame that need no guard page to grow.
static uintptr_t ready_stack(void) {
  return (uintptr_t)__builtin_frame_address(0) -
         (uintptr_t)((NT_TIB*)NtCurrentTeb())->StackLimit;
}

// Wine commits whole stacks. Puts a guard page where Windows may have it.
static void set_guard_page(void) {
  NT_TIB* thread = (NT_TIB*)NtCurrentTeb();
  if (ready_stack() < 192 << 10) return;
  uint8_t* page =
      (uint8_t*)(((uintptr_t)__builtin_frame_address(0) - (32 << 10)) &
                 ~(uintptr_t)(PAGE - 1));
  DWORD before;
  CHECK(VirtualProtect(page, PAGE, PAGE_READWRITE | PAGE_GUARD, &before));
  thread->StackLimit = page + PAGE;
}

static unsigned __stdcall run_deep(void* executable) {
  _Alignas(64) uint32_t bound[16] = {0};
  set_guard_page();
  CHECK(ready_stack() < 192 << 10);
  CHECK_OK(run(executable, USE_DEEP_STACK, NULL, bound, &error));
  CHECK_EQ(bound[0], 48);
  // Grown before the kernel: wine would let it grow in the kernel, at any place.
  CHECK(ready_stack() >= 192 << 10);
  return 0;
}

static void kernels_may_begin_at_the_deep_end_of_their_stack(void) {
  shim_cpu_executable_t* executable = open_kernel("convention");
  run_deep(executable);
  for (int i = 0; i < 4; ++i) {  // as of a JVM's threads
    HANDLE thread = (HANDLE)_beginthreadex(NULL, 1 << 20, run_deep, executable,
                                           STACK_SIZE_PARAM_IS_A_RESERVATION,
                                           NULL);
    CHECK(thread);
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
  }
  shim_cpu_executable_release(executable);
}

static void the_thread_block_of_linux_is_not_there(void) {
  shim_cpu_executable_t* executable = open_kernel("convention");
  _Alignas(64) uint64_t bound[8] = {0};
  shim_error_t how = {0};
  shim_status_t status =
      run(executable, READ_THREAD_BLOCK, NULL, bound, &how);
  if (status == SHIM_OK) {
    fprintf(stderr, "skipped: this Windows has a thread block at fs\n");
  } else {
    CHECK_EQ(status, SHIM_INTERNAL);
    CHECK(strstr(how.message, "read from 0x28"));
  }
  shim_cpu_executable_release(executable);
}

static int SHIM_KERNEL_CALL host(void* params, void* context, void* reserved) {
  CHECK_EQ((uintptr_t)context, 2);
  CHECK_EQ((uintptr_t)reserved, 3);
  *(uint64_t*)params = 77;
  return 5;
}

static void kernels_call_the_host_by_their_convention(void) {
  shim_cpu_executable_t* executable = open_kernel("convention");
  _Alignas(64) uint64_t bound[8] = {0};
  CHECK_FAILS(run(executable, CALL_HOST, (void*)(uintptr_t)host, bound, &error),
              SHIM_INTERNAL, "the kernel returned 5");
  CHECK_EQ(bound[0], 77);
  shim_cpu_executable_release(executable);
}

//===--------------------------------------------------------------------===//
// Faults
//===--------------------------------------------------------------------===//

// Of faulty.c.
enum {
  STORE_BYTE,
  LOAD_BYTE,
  JUMP,
  STORE_TO_CONSTANTS,
  STORE_TO_CODE,
  DIVIDE,
  STOP,
  MISALIGN,
  LEAVE = 12,
};

static void a_fault_is_a_status_that_says_what_was_done(void) {
  shim_cpu_executable_t* executable = open_kernel("faulty");
  _Alignas(64) uint32_t bound[16] = {0};
  uint8_t* bytes =
      VirtualAlloc(NULL, PAGE, MEM_RESERVE | MEM_COMMIT, PAGE_READONLY);
  CHECK(bytes);
  CHECK_FAILS(run(executable, STORE_BYTE, bytes, bound, &error), SHIM_INTERNAL,
              "dispatch 'store' of executable 'faulty' was stopped in "
              "workgroup (0, 0, 0): it wrote to 0x");
  CHECK_FAILS(run(executable, STORE_BYTE, bytes, bound, &error), SHIM_INTERNAL,
              "read-only memory");
  DWORD before;
  CHECK(VirtualProtect(bytes, PAGE, PAGE_NOACCESS, &before));
  CHECK_FAILS(run(executable, LOAD_BYTE, bytes, bound, &error), SHIM_INTERNAL,
              "inaccessible memory");
  VirtualFree(bytes, 0, MEM_RELEASE);
  CHECK_FAILS(run(executable, STORE_BYTE, bytes, bound, &error), SHIM_INTERNAL,
              "where nothing is mapped");
  CHECK_FAILS(run(executable, STORE_BYTE, NULL, bound, &error), SHIM_INTERNAL,
              "it wrote to 0x0, where nothing is mapped");
  CHECK_FAILS(run(executable, LOAD_BYTE, (void*)8, bound, &error),
              SHIM_INTERNAL, "it read from 0x8, ");
  CHECK_FAILS(run(executable, JUMP, (void*)64, bound, &error), SHIM_INTERNAL,
              "it jumped to 0x40, ");
  CHECK_FAILS(run(executable, LEAVE, (void*)64, bound, &error), SHIM_INTERNAL,
              "it jumped to 0x40, ");
  CHECK_FAILS(run(executable, STORE_TO_CONSTANTS, NULL, bound, &error),
              SHIM_INTERNAL, "read-only memory");
  CHECK_FAILS(run(executable, STORE_TO_CODE, NULL, bound, &error),
              SHIM_INTERNAL, "read-only memory");
  CHECK_FAILS(run(executable, STOP, NULL, bound, &error), SHIM_INCOMPATIBLE,
              "an instruction that this processor lacks");
  CHECK_FAILS(run(executable, STORE_BYTE, (void*)0x1234567812345678, bound,
                  &error),
              SHIM_INTERNAL, "a non-canonical address");
  CHECK_FAILS(run(executable, MISALIGN, &bound[1], bound, &error),
              SHIM_INTERNAL, "a misaligned vector operand");
  bound[0] = 5;
  bound[1] = 0;
  CHECK_FAILS(run(executable, DIVIDE, NULL, bound, &error), SHIM_INTERNAL,
              "divided an integer by zero");
  bound[1] = 2;
  CHECK_OK(run(executable, DIVIDE, NULL, bound, &error));
  CHECK_EQ(bound[2], 2);
  shim_cpu_executable_release(executable);
}

static void faults_while_loading_are_statuses(void) {
  shim_cpu_executable_t* executable = NULL;
  CHECK_FAILS(open_by("faulty_initializer", 0, &executable, &error),
              SHIM_INTERNAL,
              "executable 'faulty_initializer': its initializer was stopped");
  CHECK(!executable);
  CHECK_FAILS(open_by("faulty_query", 0, &executable, &error), SHIM_INTERNAL,
              "executable 'faulty_query': its query function was stopped");
  CHECK(!executable);
}

enum { THREADS = 4 };

static unsigned __stdcall fault_often(void* executable) {
  _Alignas(64) uint32_t bound[16] = {0};
  for (int i = 0; i < 300; ++i) {
    CHECK_FAILS(run(executable, STORE_BYTE, (void*)16, bound, &error),
                SHIM_INTERNAL, " 0x10, where nothing is mapped");
  }
  return 0;
}

static void threads_fault_each_for_itself(void) {
  shim_cpu_executable_t* executable = open_kernel("faulty");
  HANDLE threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    threads[i] =
        (HANDLE)_beginthreadex(NULL, 0, fault_often, executable, 0, NULL);
    CHECK(threads[i]);
  }
  for (int i = 0; i < THREADS; ++i) {
    WaitForSingleObject(threads[i], INFINITE);
    CloseHandle(threads[i]);
  }
  shim_cpu_executable_release(executable);
}

static volatile LONG passed;

// As a JVM's, which comes after the shim's: makes the page writable.
static LONG CALLBACK on_exception(EXCEPTION_POINTERS* exception) {
  const EXCEPTION_RECORD* record = exception->ExceptionRecord;
  if (record->ExceptionCode != EXCEPTION_ACCESS_VIOLATION) {
    return EXCEPTION_CONTINUE_SEARCH;
  }
  ++passed;
  DWORD before;
  return VirtualProtect((void*)record->ExceptionInformation[1], 1,
                        PAGE_READWRITE, &before)
             ? EXCEPTION_CONTINUE_EXECUTION
             : EXCEPTION_CONTINUE_SEARCH;
}

static void check_passed_on(shim_cpu_executable_t* executable, bool is_kernel) {
  volatile uint8_t* bytes =
      VirtualAlloc(NULL, PAGE, MEM_RESERVE | MEM_COMMIT, PAGE_READONLY);
  CHECK(bytes);
  passed = 0;
  _Alignas(64) uint32_t bound[16] = {0};
  if (is_kernel) {
    CHECK_OK(run(executable, STORE_BYTE, bytes, bound, &error));
  } else {
    *bytes = 7;
  }
  CHECK_EQ(passed, 1);
  CHECK_EQ(*bytes, 7);
  VirtualFree((void*)bytes, 0, MEM_RELEASE);
}

static void faults_of_others_are_passed_on(void) {
  shim_cpu_executable_t* guarded = open_kernel("faulty");
  shim_cpu_executable_t* unguarded = NULL;
  CHECK_OK(open_by("faulty", SHIM_CPU_EXECUTABLE_UNGUARDED, &unguarded,
                   &error));
  void* handler = AddVectoredExceptionHandler(0, on_exception);
  CHECK(handler);
  check_passed_on(guarded, false);
  check_passed_on(unguarded, true);
  // Also after a kernel was stopped, which no other handler sees.
  passed = 0;
  _Alignas(64) uint32_t bound[16] = {0};
  CHECK_FAILS(run(guarded, STORE_BYTE, NULL, bound, &error), SHIM_INTERNAL, "");
  CHECK_EQ(passed, 0);
  check_passed_on(guarded, false);
  RemoveVectoredExceptionHandler(handler);
  shim_cpu_executable_release(unguarded);
  shim_cpu_executable_release(guarded);
}

//===--------------------------------------------------------------------===//
// Memory and files
//===--------------------------------------------------------------------===//

static DWORD rights_of(const void* address) {
  MEMORY_BASIC_INFORMATION info;
  CHECK(VirtualQuery(address, &info, sizeof(info)));
  return info.Protect;
}

static void sealed_memory_is_read_only(void) {
  shim_sealed_t* sealed = NULL;
  CHECK_OK(shim_sealed_create(3 * PAGE + 17, &sealed, &error));
  uint8_t* bytes = shim_sealed_bytes(sealed);
  for (int i = 0; i < 3 * PAGE + 17; ++i) {
    CHECK_EQ(bytes[i], 0);
    bytes[i] = (uint8_t)(i * 7);
  }
  CHECK_EQ(rights_of(bytes), PAGE_READWRITE);
  CHECK_OK(shim_sealed_seal(sealed, &error));
  CHECK_EQ(rights_of(bytes), PAGE_READONLY);
  CHECK_EQ(rights_of(bytes + 3 * PAGE + 16), PAGE_READONLY);
  CHECK_EQ(bytes[PAGE], (uint8_t)(PAGE * 7));
  shim_sealed_release(sealed);
  CHECK_FAILS(shim_sealed_create(1ull << 50, &sealed, &error),
              SHIM_RESOURCE_EXHAUSTED, "no memory for 1125899906842624 bytes");
  CHECK(!sealed);
}

static int32_t open_file(const char* path) {
  int32_t fd = 0;
  CHECK_OK(shim_file_open(path, strlen(path), SHIM_FILE_READ, &fd, &error));
  return fd;
}

static void a_file_is_mapped_under_a_name_of_any_letters(void) {
  const char* path = "test_windows_\xC3\xA4\xE2\x82\xAC.tmp";
  HANDLE file = CreateFileW(L"test_windows_\u00E4\u20AC.tmp", GENERIC_WRITE, 0,
                            NULL, CREATE_ALWAYS, 0, NULL);
  CHECK(file != INVALID_HANDLE_VALUE);
  DWORD written = 0;
  CHECK(WriteFile(file, "content\r\n\x1A", 10, &written, NULL));
  CloseHandle(file);
  const int32_t fd = open_file(path);
  int64_t length = 0;
  CHECK_OK(shim_file_length(fd, &length, &error));
  CHECK_EQ(length, 10);
  shim_sealed_t* sealed = NULL;
  CHECK_OK(shim_sealed_map(fd, &sealed, &error));
  shim_event_close(fd);
  CHECK_EQ(shim_sealed_size(sealed), 10);
  CHECK(memcmp(shim_sealed_bytes(sealed), "content\r\n\x1A", 10) == 0);
  CHECK_EQ(rights_of(shim_sealed_bytes(sealed)), PAGE_READONLY);
  shim_sealed_release(sealed);
  CHECK(DeleteFileW(L"test_windows_\u00E4\u20AC.tmp"));
}

static void a_path_may_be_longer_than_260_characters(void) {
  static wchar_t wide[2048] = L"\\\\?\\";
  static char path[4096];
  DWORD length = GetCurrentDirectoryW(1024, wide + 4) + 4;
  wide[length++] = L'\\';
  const DWORD begin = length;
  for (; length < begin + 240; ++length) wide[length] = L'd';
  CHECK(CreateDirectoryW(wide, NULL) || GetLastError() == ERROR_ALREADY_EXISTS);
  const DWORD folder = length;
  wide[length++] = L'\\';
  for (; length < folder + 200; ++length) wide[length] = L'f';
  HANDLE file =
      CreateFileW(wide, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
  CHECK(file != INVALID_HANDLE_VALUE);
  CloseHandle(file);
  // Relative, with a slash: what Java accepts, too.
  for (DWORD i = begin; i < length; ++i) {
    path[i - begin] = wide[i] == L'\\' ? '/' : (char)wide[i];
  }
  shim_event_close(open_file(path));
  CHECK(DeleteFileW(wide));
  wide[folder] = 0;
  CHECK(RemoveDirectoryW(wide));
}

static void what_is_no_file_is_refused(void) {
  int32_t fd = 7;
  CHECK_FAILS(shim_file_open("no-such", 7, SHIM_FILE_READ, &fd, &error),
              SHIM_NOT_FOUND, "it does not exist");
  CHECK_EQ(fd, 0);
  CHECK_FAILS(shim_file_open(".", 1, SHIM_FILE_READ, &fd, &error),
              SHIM_INVALID_ARGUMENT, "not a regular file");
  CHECK_FAILS(shim_file_open("C:\\windows", 10, SHIM_FILE_READ, &fd, &error),
              SHIM_INVALID_ARGUMENT, "not a regular file");
  CHECK_FAILS(shim_file_open("", 0, SHIM_FILE_READ, &fd, &error),
              SHIM_INVALID_ARGUMENT, "path of 0 bytes");
  CHECK_FAILS(shim_file_open("\xFF\xFE", 2, SHIM_FILE_READ, &fd, &error),
              SHIM_INVALID_ARGUMENT, "not UTF-8");
  int64_t length = 7;
  CHECK_FAILS(shim_file_length(-1, &length, &error), SHIM_INVALID_ARGUMENT,
              "the length is not known");
  CHECK_EQ(length, 0);
}

//===--------------------------------------------------------------------===//
// What is missing
//===--------------------------------------------------------------------===//

static void what_windows_lacks_says_so(void) {
  CHECK_EQ(shim_capabilities(),
           SHIM_CAPABILITY_AFFINITY | SHIM_CAPABILITY_VIEWS);
  int32_t fd = 7;
  CHECK_FAILS(shim_event_create(&fd, &error), SHIM_UNIMPLEMENTED,
              "Windows has no eventfd and epoll");
  CHECK_EQ(fd, 0);
  CHECK_FAILS(shim_poller_create(&fd, &error), SHIM_UNIMPLEMENTED,
              "Windows has no eventfd and epoll");
  shim_file_ring_t* ring = NULL;
  CHECK_FAILS(shim_file_ring_create(8, &ring, &error), SHIM_UNAVAILABLE,
              "Windows has no io_uring");
  CHECK(!ring);
  shim_cpu_executable_t* executable = NULL;
  CHECK_FAILS(open_by("basic", SHIM_CPU_EXECUTABLE_SYSTEM, &executable, &error),
              SHIM_UNIMPLEMENTED, "Windows has no loader of ELF libraries");
  CHECK(!executable);
}

static void a_missing_driver_says_so(void) {
  shim_vulkan_api_t* vulkan = NULL;
  CHECK_FAILS(shim_vulkan_open("no-such.dll", 0, &vulkan, &error),
              SHIM_UNAVAILABLE, "there is no such library");
  shim_gpu_api_t* gpu = NULL;
  CHECK_FAILS(shim_gpu_open(SHIM_GPU_CUDA, "no-such.dll", &gpu, &error),
              SHIM_UNAVAILABLE, "there is no such library");
#if defined(SHIM_LIBRARY)
  // A library that is there, and needs one that is not.
  file_t file = read_file(SHIM_LIBRARY);
  bool found = false;
  for (size_t i = 0; i + 12 < file.size; ++i) {
    if (memcmp(file.bytes + i, "KERNEL32.dll", 12) != 0) continue;
    file.bytes[i] = 'N';
    found = true;
  }
  CHECK(found);
  FILE* copy = fopen("unmet.dll", "wb");
  CHECK(copy && fwrite(file.bytes, 1, file.size, copy) == file.size);
  CHECK_EQ(fclose(copy), 0);
  free(file.bytes);
  CHECK(!dlopen(".\\unmet.dll", RTLD_NOW));
  CHECK(strstr(dlerror(), "a library that it needs is missing"));
  remove("unmet.dll");  // wine keeps a library open that did not load
#endif
  CHECK(shim__system_lacks("a.dll",
                           "error 126 of Windows, there is no such library"));
  CHECK(!shim__system_lacks(
      "a.dll", "error 126 of Windows, a library that it needs is missing"));
  CHECK(!shim__system_lacks("a.dll", "error 193 of Windows"));
}

#if defined(SHIM_LIBRARY)
static void the_library_exports_what_a_jvm_calls(void) {
  void* library = dlopen(SHIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  CHECK(library);
  CHECK(dlsym(library, "JNI_OnLoad"));
  CHECK(dlsym(library, "JNI_OnUnload"));
  CHECK(!dlsym(library, "shim_error_set"));
  CHECK_EQ(dlclose(library), 0);
}
#endif

int main(void) {
  RUN(registers_of_win64_survive_a_kernel);
  RUN(registers_of_win64_survive_a_fault);
  RUN(kernels_may_use_the_red_zone);
  RUN(kernels_may_begin_at_the_deep_end_of_their_stack);
  RUN(the_thread_block_of_linux_is_not_there);
  RUN(kernels_call_the_host_by_their_convention);
  RUN(a_fault_is_a_status_that_says_what_was_done);
  RUN(faults_while_loading_are_statuses);
  RUN(threads_fault_each_for_itself);
  RUN(faults_of_others_are_passed_on);
  RUN(sealed_memory_is_read_only);
  RUN(a_file_is_mapped_under_a_name_of_any_letters);
  RUN(a_path_may_be_longer_than_260_characters);
  RUN(what_is_no_file_is_refused);
  RUN(what_windows_lacks_says_so);
  RUN(a_missing_driver_says_so);
#if defined(SHIM_LIBRARY)
  RUN(the_library_exports_what_a_jvm_calls);
#endif
  return 0;
}
