// Opens a compiled CPU library and runs its exports over ranges of workgroups.
// Calls the ELF loader, system_image.c, cpu_library.c, cpu_features.c,
// shim_fault.c and shim_status.c.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_library.h"
#include "fpu.h"
#include "shim_fault.h"
#include "shim_internal.h"
#include "shim_system.h"
#include "system_image.h"

typedef unsigned long long ull;

enum { LOCAL_MEMORY_ALIGNMENT = 64 };

struct shim_cpu_executable_t {
  // First, so that it is aligned to a cache line. Never changes after creation.
  shim_environment_t environment;
  shim__elf_image_t image;
  shim__system_image_t system;  // owns the memory of |image|, if used
  shim__cpu_library_t library;
  char name[64];  // for messages, NUL-terminated, truncated
  uint64_t code_begin;  // the guarded code; 0 when unguarded
  uint64_t code_end;
  uint32_t* constants;
  void** imports;  // all NULL: functions, then contexts
};

static int SHIM_KERNEL_CALL call_import(shim_import_fn_t function, void* params, void* context,
                       void* reserved) {
  return function(params, context, reserved);
}

// Another thread may have loaded the code, at addresses of code unloaded before.
// An arm64 processor may have fetched the old instructions already, until its
// context is synchronized; x86_64 sees to that by itself.
static inline void forget_fetched_code(void) {
#if defined(__aarch64__)
  __asm__ volatile("isb" : : : "memory");
#endif
}

int32_t shim_thread_flushes_denormals(void) {
  return (shim__fpu_mode() & SHIM__FPU_FLUSH) != 0;
}

// Runs code of the executable; false when it was stopped, with the
// floating-point mode undefined.
static bool run(const shim_cpu_executable_t* executable,
                void (*function)(void*), void* argument,
                shim__fault_t* out_fault) {
  shim__system_prepare_stack();
  if (executable->code_end != 0) {
    return shim__fault_catch(executable->code_begin, executable->code_end,
                             function, argument, out_fault);
  }
  function(argument);
  return true;
}

// Like run, for calls during loading.
static shim_status_t run_once(const shim_cpu_executable_t* executable,
                              const char* what, void (*function)(void*),
                              void* argument, shim_error_t* error) {
  shim__fault_t fault;
  const uint64_t mode = shim__fpu_mode();
  if (run(executable, function, argument, &fault)) return SHIM_OK;
  shim__fpu_set_mode(mode);
  char text[200];
  shim__fault_text(&fault, NULL, text, sizeof(text));
  return shim_error_set(error, shim__fault_status(&fault), fault.signal,
                        "%s was stopped: it %s", what, text);
}

// Prefixes the message with the executable's name.
static shim_status_t in_executable(const shim_cpu_executable_params_t* params,
                                   shim_status_t status, shim_error_t* error) {
  if (status == SHIM_OK || !error) return status;
  shim_error_t cause = *error;
  int length = params->name_length > 80 ? 80 : (int)params->name_length;
  return shim_error_set(error, status, cause.native_code,
                        "executable '%.*s': %s", length,
                        params->name ? params->name : "", cause.message);
}

static shim_status_t copy_constants(shim_cpu_executable_t* executable,
                                    const shim_cpu_executable_params_t* params,
                                    shim_error_t* error) {
  if (params->constant_count == 0) return SHIM_OK;
  executable->constants = calloc(params->constant_count, sizeof(uint32_t));
  if (!executable->constants) {
    return shim__no_memory(error, params->constant_count * sizeof(uint32_t),
                           "constants");
  }
  memcpy(executable->constants, params->constants,
         params->constant_count * sizeof(uint32_t));
  executable->environment.constants = executable->constants;
  return SHIM_OK;
}

typedef struct query_t {
  const shim_cpu_executable_t* executable;
  shim_query_fn_t function;
  uint32_t version;
  uint64_t library;
} query_t;

static void run_query(void* argument) {
  query_t* call = argument;
  call->library = (uint64_t)(uintptr_t)call->function(
      call->version, &call->executable->environment);
}

// Queries the image's description; |*out_library| is 0 when it does not support
// |version|.
static shim_status_t query(const shim_cpu_executable_t* executable,
                           uint64_t function_address, uint32_t version,
                           uint64_t* out_library, shim_error_t* error) {
  query_t call = {.executable = executable, .version = version};
  memcpy(&call.function, &function_address, sizeof(call.function));
  shim_status_t status = run_once(executable, "its query function", run_query,
                                  &call, error);
  *out_library = call.library;
  return status;
}

static shim_status_t open_library(shim_cpu_executable_t* executable,
                                  uint64_t query_address,
                                  size_t constant_count, shim_error_t* error) {
  if (!shim__elf_image_is_code(&executable->image, query_address)) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "malformed ELF: '%s' is not in an executable segment "
                          "of it",
                          SHIM_CPU_QUERY_SYMBOL);
  }
  // Libraries support only their compiler's version.
  uint64_t library = 0;
  for (uint32_t v = SHIM_CPU_LIBRARY_VERSION;
       v >= SHIM_CPU_LIBRARY_OLDEST_VERSION && library == 0; --v) {
    shim_status_t status = query(executable, query_address, v, &library, error);
    if (status != SHIM_OK) return status;
  }
  if (library == 0) {
    for (uint32_t v = SHIM_CPU_LIBRARY_OLDEST_VERSION - 1; v >= 1; --v) {
      shim_status_t status =
          query(executable, query_address, v, &library, error);
      if (status != SHIM_OK) return status;
      if (library == 0) continue;
      return shim_error_set(
          error, SHIM_INCOMPATIBLE, 0,
          "library version is %u, versions %u to %u can be run; compile it "
          "with iree-compile of March 2023 or later",
          v, SHIM_CPU_LIBRARY_OLDEST_VERSION, SHIM_CPU_LIBRARY_VERSION);
    }
    return shim_error_set(error, SHIM_INCOMPATIBLE, 0,
                          "library does not offer versions %u to %u; compile "
                          "it for this runtime",
                          SHIM_CPU_LIBRARY_OLDEST_VERSION,
                          SHIM_CPU_LIBRARY_VERSION);
  }
  return shim__cpu_library_read(&executable->image, library, constant_count,
                                &executable->library, error);
}

static shim_status_t set_imports(shim_cpu_executable_t* executable,
                                 shim_error_t* error) {
  uint32_t count = executable->library.import_count;
  if (count == 0) return SHIM_OK;
  executable->imports = calloc(count, 2 * sizeof(void*));
  if (!executable->imports) {
    return shim__no_memory(error, count * 2 * sizeof(void*), "imports");
  }
  shim_environment_t* environment = &executable->environment;
  memcpy(&environment->import_funcs, &executable->imports,
         sizeof(environment->import_funcs));
  environment->import_contexts =
      (const void* const*)(executable->imports + count);
  return SHIM_OK;
}

// Sets the code range, so that the handler recognizes its faults.
static void guard_code(shim_cpu_executable_t* executable) {
  const shim__elf_image_t* image = &executable->image;
  if (image->segment_count == 0) return;
  const shim__elf_segment_t* last = &image->segments[image->segment_count - 1];
  executable->code_begin = image->bias + image->segments[0].vaddr;
  executable->code_end = image->bias + last->vaddr + last->memsz;
  shim__fault_install(true);
}

typedef struct initializers_t {
  const shim__elf_image_t* image;
  shim_error_t* error;
  shim_status_t status;
} initializers_t;

static void run_initializers(void* argument) {
  initializers_t* call = argument;
  call->status = shim__elf_image_initialize(call->image, call->error);
}

static shim_status_t initialize(const shim_cpu_executable_t* executable,
                                shim_error_t* error) {
  initializers_t call = {.image = &executable->image, .error = error};
  shim_status_t status = run_once(executable, "its initializer",
                                  run_initializers, &call, error);
  return status == SHIM_OK ? call.status : status;
}

// The shim's own loader, which trusts only the code.
static shim_status_t load_embedded(shim_cpu_executable_t* executable,
                                   const shim_cpu_executable_params_t* params,
                                   bool is_guarded, uint64_t* out_query,
                                   shim_error_t* error) {
  const uint8_t* bytes = NULL;
  uint64_t size = 0;
  uint64_t query_vaddr = 0;
  shim__elf_file_t file;
  shim_status_t status = shim__fatelf_select(params->elf, params->elf_size,
                                             &bytes, &size, error);
  if (status == SHIM_OK) {
    status = shim__elf_file_parse(bytes, size, SHIM__ELF_HOST_MACHINE,
                                  shim__system_page_size(), &file, error);
  }
  if (status == SHIM_OK) {
    status = shim__elf_file_lookup(&file, SHIM_CPU_QUERY_SYMBOL, &query_vaddr,
                                   error);
  }
  if (status == SHIM_OK) {
    status = shim__elf_image_load(&file, &executable->image, error);
  }
  if (status == SHIM_OK && is_guarded) guard_code(executable);
  if (status == SHIM_OK) status = initialize(executable, error);
  *out_query = executable->image.bias + query_vaddr;
  return status;
}

static shim_status_t load(shim_cpu_executable_t* executable,
                          const shim_cpu_executable_params_t* params,
                          shim_error_t* error) {
  const bool is_guarded =
      (params->flags & SHIM_CPU_EXECUTABLE_UNGUARDED) == 0;
  uint64_t query = 0;
  shim_status_t status;
  if ((params->flags & SHIM_CPU_EXECUTABLE_SYSTEM) != 0) {
    status = shim__system_image_load(params->elf, params->elf_size,
                                     SHIM_CPU_QUERY_SYMBOL, &executable->system,
                                     &executable->image, &query, error);
    if (status == SHIM_OK && is_guarded) guard_code(executable);
  } else {
    status = load_embedded(executable, params, is_guarded, &query, error);
  }
  if (status == SHIM_OK) {
    status = open_library(executable, query, params->constant_count, error);
  }
  if (status == SHIM_OK) status = set_imports(executable, error);
  return status;
}

shim_status_t shim_cpu_executable_create(
    const shim_cpu_executable_params_t* params,
    shim_cpu_executable_t** out_executable, shim_error_t* error) {
  *out_executable = NULL;
  size_t size = (sizeof(shim_cpu_executable_t) + 63) & ~(size_t)63;
  shim_cpu_executable_t* executable = shim__system_lines(size);
  if (!executable) {
    return in_executable(
        params, shim__no_memory(error, size, "an executable"), error);
  }
  memset(executable, 0, size);
  executable->environment.import_thunk = call_import;
  if (params->name_length > 0) {
    snprintf(executable->name, sizeof(executable->name), "%.*s",
             params->name_length > 63 ? 63 : (int)params->name_length,
             params->name);
  }
  shim_cpu_features_query(executable->environment.processor);
  shim_status_t status = copy_constants(executable, params, error);
  if (status == SHIM_OK) status = load(executable, params, error);
  if (status != SHIM_OK) {
    shim_cpu_executable_release(executable);
    return in_executable(params, status, error);
  }
  *out_executable = executable;
  return SHIM_OK;
}

void shim_cpu_executable_release(shim_cpu_executable_t* executable) {
  if (!executable) return;
  shim__cpu_library_release(&executable->library);
  shim__elf_image_release(&executable->image);
  shim__system_image_release(&executable->system);
  free(executable->imports);
  free(executable->constants);
  shim__system_free_lines(executable);
}

uint32_t shim_cpu_executable_export_count(
    const shim_cpu_executable_t* executable) {
  return executable->library.export_count;
}

static shim_status_t no_such_export(const shim_cpu_executable_t* executable,
                                    uint32_t ordinal, shim_error_t* error) {
  return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                        "export %u of an executable that has %u", ordinal,
                        executable->library.export_count);
}

shim_status_t shim_cpu_executable_export_query(
    const shim_cpu_executable_t* executable, uint32_t ordinal,
    shim_cpu_export_t* out_export, shim_error_t* error) {
  memset(out_export, 0, sizeof(*out_export));
  if (ordinal >= executable->library.export_count) {
    return no_such_export(executable, ordinal, error);
  }
  const shim__cpu_export_t* entry = &executable->library.exports[ordinal];
  *out_export = (shim_cpu_export_t){
      .flags = entry->flags,
      .local_memory_size = entry->local_memory_size,
      .constant_count = entry->counts_known ? entry->constant_count : UINT32_MAX,
      .binding_count = entry->counts_known ? entry->binding_count : UINT32_MAX,
      .workgroup_size_x = entry->workgroup_size_x,
      .workgroup_size_y = entry->workgroup_size_y,
      .workgroup_size_z = entry->workgroup_size_z,
      .name = entry->name,
      .name_length = entry->name_length,
  };
  return SHIM_OK;
}

// Rejects numbers that would make a kernel access foreign memory.
static shim_status_t check_dispatch(const shim__cpu_export_t* entry,
                                    const shim_cpu_dispatch_t* dispatch,
                                    shim_error_t* error) {
  const shim_dispatch_state_t* state = dispatch->state;
  if (state->constant_count < entry->constant_count ||
      state->binding_count < entry->binding_count) {
    return shim_error_set(
        error, SHIM_INVALID_ARGUMENT, 0,
        "dispatch '%.100s' takes %u constants and %u bindings, %u and %u were "
        "given",
        entry->name, entry->constant_count, entry->binding_count,
        state->constant_count, state->binding_count);
  }
  uint64_t count = (uint64_t)state->workgroup_count_x *
                   (uint64_t)state->workgroup_count_y;
  if (__builtin_mul_overflow(count, (uint64_t)state->workgroup_count_z,
                             &count)) {
    count = UINT64_MAX;
  }
  if (dispatch->begin > dispatch->end || dispatch->end > count) {
    return shim_error_set(
        error, SHIM_OUT_OF_RANGE, 0,
        "workgroups [%llu, %llu) of dispatch '%.100s' do not lie in its grid "
        "of %u x %u x %u",
        (ull)dispatch->begin, (ull)dispatch->end, entry->name,
        state->workgroup_count_x, state->workgroup_count_y,
        state->workgroup_count_z);
  }
  if (dispatch->local_memory_size < entry->local_memory_size ||
      ((uintptr_t)dispatch->local_memory & (LOCAL_MEMORY_ALIGNMENT - 1)) !=
          0 ||
      (entry->local_memory_size > 0 && !dispatch->local_memory)) {
    return shim_error_set(
        error, SHIM_INVALID_ARGUMENT, 0,
        "dispatch '%.100s' needs %u bytes of local memory aligned to %d, %llu "
        "at offset %u were given",
        entry->name, entry->local_memory_size, LOCAL_MEMORY_ALIGNMENT,
        (ull)dispatch->local_memory_size,
        (uint32_t)((uintptr_t)dispatch->local_memory &
                   (LOCAL_MEMORY_ALIGNMENT - 1)));
  }
  return SHIM_OK;
}

// A range of workgroups, and its progress.
typedef struct range_t {
  const shim_cpu_executable_t* executable;
  const shim__cpu_export_t* entry;
  const shim_dispatch_state_t* state;
  uint64_t count;
  int result;  // of the last call; if not 0, that of |workgroup|
  _Alignas(64) shim_workgroup_state_t workgroup;
} range_t;

static void run_range(void* argument) {
  range_t* range = argument;
  const shim_dispatch_state_t* state = range->state;
  shim_workgroup_state_t* workgroup = &range->workgroup;
  for (uint64_t i = 0; i < range->count; ++i) {
    range->result = range->entry->function(&range->executable->environment,
                                           state, workgroup);
    if (range->result != 0) return;
    if (++workgroup->workgroup_id_x == state->workgroup_count_x) {
      workgroup->workgroup_id_x = 0;
      if (++workgroup->workgroup_id_y == state->workgroup_count_y) {
        workgroup->workgroup_id_y = 0;
        ++workgroup->workgroup_id_z;
      }
    }
  }
}

// Describes an address relative to the bindings; false when it is near none.
static bool describe_binding(const shim_dispatch_state_t* state,
                             uintptr_t address, char* out, size_t capacity) {
  uintptr_t nearest = 1u << 20;
  bool found = false;
  for (uint32_t i = 0; i < state->binding_count && nearest > 0; ++i) {
    const uintptr_t begin = (uintptr_t)state->binding_ptrs[i];
    const uintptr_t size = (uintptr_t)state->binding_lengths[i];
    const bool is_before = address < begin;
    const bool is_inside = !is_before && address - begin < size;
    const uintptr_t distance = is_inside   ? 0
                               : is_before ? begin - address
                                           : address - begin - size + 1;
    if (begin == 0 || distance >= nearest) continue;
    nearest = distance;
    found = true;
    if (is_before) {
      snprintf(out, capacity, "%llu bytes before binding %u", (ull)distance, i);
    } else {
      snprintf(out, capacity, "byte %llu of binding %u (%llu bytes)",
               (ull)(address - begin), i, (ull)size);
    }
  }
  return found;
}

static shim_status_t stopped(const range_t* range, const shim__fault_t* fault,
                             shim_error_t* error) {
  // Messages are of limited size; the memory, at the end, gets the rest of it.
  char what[sizeof(error->message)];
  const shim_workgroup_state_t* at = &range->workgroup;
  const int length = snprintf(
      what, sizeof(what),
      "dispatch '%.40s' of executable '%.24s' was stopped in workgroup (%u, "
      "%u, %u): it ",
      range->entry->name, range->executable->name, at->workgroup_id_x,
      at->workgroup_id_y, at->workgroup_id_z);
  char where[96];
  char text[sizeof(error->message)];
  const bool is_near =
      fault->has_address && describe_binding(range->state, fault->address,
                                             where, sizeof(where));
  shim__fault_text(fault, is_near ? where : NULL, text,
                   sizeof(text) - (size_t)length);
  return shim_error_set(error, shim__fault_status(fault), fault->signal, "%s%s",
                        what, text);
}

shim_status_t shim_cpu_executable_dispatch(
    const shim_cpu_executable_t* executable,
    const shim_cpu_dispatch_t* dispatch, shim_error_t* error) {
  if (dispatch->ordinal >= executable->library.export_count) {
    return no_such_export(executable, dispatch->ordinal, error);
  }
  const shim__cpu_export_t* entry =
      &executable->library.exports[dispatch->ordinal];
  shim_status_t status = check_dispatch(entry, dispatch, error);
  if (status != SHIM_OK || dispatch->begin == dispatch->end) return status;

  const shim_dispatch_state_t* state = dispatch->state;
  const uint64_t row = dispatch->begin / state->workgroup_count_x;
  range_t range = {
      .executable = executable,
      .entry = entry,
      .state = state,
      .count = dispatch->end - dispatch->begin,
      .workgroup = {
          .workgroup_id_x =
              (uint32_t)(dispatch->begin % state->workgroup_count_x),
          .workgroup_id_y = (uint32_t)(row % state->workgroup_count_y),
          .workgroup_id_z = (uint16_t)(row / state->workgroup_count_y),
          .processor_id = dispatch->processor_id,
          .local_memory = dispatch->local_memory,
          .local_memory_size = entry->local_memory_size,
      }};
  shim__fault_t fault;
  forget_fetched_code();
  const uint64_t mode = shim__fpu_flush_denormals();
  if (!run(executable, run_range, &range, &fault)) {
    shim__fpu_set_mode(mode);
    return stopped(&range, &fault, error);
  }
  shim__fpu_restore(mode);
  if (range.result == 0) return SHIM_OK;
  return shim_error_set(
      error, SHIM_INTERNAL, range.result,
      "dispatch '%.100s' failed in workgroup (%u, %u, %u) of %u x %u x %u: "
      "the kernel returned %d",
      entry->name, range.workgroup.workgroup_id_x,
      range.workgroup.workgroup_id_y, range.workgroup.workgroup_id_z,
      state->workgroup_count_x, state->workgroup_count_y,
      state->workgroup_count_z, range.result);
}
