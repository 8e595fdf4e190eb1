// Opens a compiled CPU library and runs its exports over ranges of workgroups.
// Calls the ELF loader, system_image.c, cpu_library.c, cpu_features.c and
// shim_status.c.
#include <stdlib.h>
#include <string.h>

#include "cpu_library.h"
#include "fpu.h"
#include "shim_internal.h"
#include "system_image.h"

typedef unsigned long long ull;

enum { LOCAL_MEMORY_ALIGNMENT = 64 };

struct shim_cpu_executable_t {
  // First, so that kernels find it aligned to a cache line. Never changes once
  // the executable has been created.
  shim_environment_t environment;
  shim__elf_image_t image;
  shim__system_image_t system;  // whose memory |image| is, if it is loaded so
  shim__cpu_library_t library;
  uint32_t* constants;
  void** imports;  // all NULL: functions, then contexts
};

static int call_import(shim_import_fn_t function, void* params, void* context,
                       void* reserved) {
  return function(params, context, reserved);
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

// Asks the image for its description; |*out_address| is 0 when it does not
// speak |version|.
static uint64_t query(const shim_cpu_executable_t* executable,
                      uint64_t function_address, uint32_t version) {
  shim_query_fn_t function;
  memcpy(&function, &function_address, sizeof(function));
  return (uint64_t)(uintptr_t)function(version, &executable->environment);
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
  // Compilers answer only to their own version.
  uint64_t library = 0;
  for (uint32_t v = SHIM_CPU_LIBRARY_VERSION;
       v >= SHIM_CPU_LIBRARY_OLDEST_VERSION && library == 0; --v) {
    library = query(executable, query_address, v);
  }
  if (library == 0) {
    for (uint32_t v = SHIM_CPU_LIBRARY_OLDEST_VERSION - 1; v >= 1; --v) {
      if (query(executable, query_address, v) == 0) continue;
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

// Our own loader, which trusts nothing but the code.
static shim_status_t load_embedded(shim_cpu_executable_t* executable,
                                   const shim_cpu_executable_params_t* params,
                                   uint64_t* out_query, shim_error_t* error) {
  const uint8_t* bytes = NULL;
  uint64_t size = 0;
  uint64_t query_vaddr = 0;
  shim__elf_file_t file;
  shim_status_t status = shim__fatelf_select(params->elf, params->elf_size,
                                             &bytes, &size, error);
  if (status == SHIM_OK) {
    status = shim__elf_file_parse(bytes, size, SHIM__ELF_HOST_MACHINE,
                                  shim__host_page_size(), &file, error);
  }
  if (status == SHIM_OK) {
    status = shim__elf_file_lookup(&file, SHIM_CPU_QUERY_SYMBOL, &query_vaddr,
                                   error);
  }
  if (status == SHIM_OK) {
    status = shim__elf_image_load(&file, &executable->image, error);
  }
  if (status == SHIM_OK) {
    status = shim__elf_image_initialize(&executable->image, error);
  }
  *out_query = executable->image.bias + query_vaddr;
  return status;
}

static shim_status_t load(shim_cpu_executable_t* executable,
                          const shim_cpu_executable_params_t* params,
                          shim_error_t* error) {
  uint64_t query = 0;
  shim_status_t status =
      (params->flags & SHIM_CPU_EXECUTABLE_SYSTEM) != 0
          ? shim__system_image_load(params->elf, params->elf_size,
                                    SHIM_CPU_QUERY_SYMBOL, &executable->system,
                                    &executable->image, &query, error)
          : load_embedded(executable, params, &query, error);
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
  shim_cpu_executable_t* executable = aligned_alloc(64, size);
  if (!executable) {
    return in_executable(
        params, shim__no_memory(error, size, "an executable"), error);
  }
  memset(executable, 0, size);
  executable->environment.import_thunk = call_import;
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
  free(executable);
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

// What would make a kernel read or write memory that is not its own, as far as
// it can be told from numbers.
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
  _Alignas(64) shim_workgroup_state_t workgroup = {
      .workgroup_id_x = (uint32_t)(dispatch->begin % state->workgroup_count_x),
      .workgroup_id_y = (uint32_t)(row % state->workgroup_count_y),
      .workgroup_id_z = (uint16_t)(row / state->workgroup_count_y),
      .processor_id = dispatch->processor_id,
      .local_memory = dispatch->local_memory,
      .local_memory_size = entry->local_memory_size,
  };
  const uint64_t mode = shim__fpu_flush_denormals();
  for (uint64_t i = dispatch->begin; i < dispatch->end; ++i) {
    int result = entry->function(&executable->environment, state, &workgroup);
    if (result != 0) {
      shim__fpu_restore(mode);
      return shim_error_set(
          error, SHIM_INTERNAL, result,
          "dispatch '%.100s' failed in workgroup (%u, %u, %u) of %u x %u x %u: "
          "the kernel returned %d",
          entry->name, workgroup.workgroup_id_x, workgroup.workgroup_id_y,
          workgroup.workgroup_id_z, state->workgroup_count_x,
          state->workgroup_count_y, state->workgroup_count_z, result);
    }
    if (++workgroup.workgroup_id_x == state->workgroup_count_x) {
      workgroup.workgroup_id_x = 0;
      if (++workgroup.workgroup_id_y == state->workgroup_count_y) {
        workgroup.workgroup_id_y = 0;
        ++workgroup.workgroup_id_z;
      }
    }
  }
  shim__fpu_restore(mode);
  return SHIM_OK;
}
