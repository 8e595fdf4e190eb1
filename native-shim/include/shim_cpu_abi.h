// The binary interface between the runtime and compiled CPU libraries, version
// 6, as IREE's compiler emits it and IREE's runtime declares it in
// hal/local/executable_library.h. Names differ, offsets are the same. Versions
// 3 to 5 call kernels in the same way and describe them in other tables, at the
// end of this file.
//
// Self-contained and without functions, so that kernels written in C can also
// use it: docs/native.md shows how to compile one.
//
// A library is an ELF file that exports one function, SHIM_CPU_QUERY_SYMBOL. It
// returns the address of a shim_library_t (whose first field is the pointer to
// its header), or NULL when it does not support the requested version.
#ifndef IREE4J_SHIM_CPU_ABI_H_
#define IREE4J_SHIM_CPU_ABI_H_

#include <stddef.h>
#include <stdint.h>

#define SHIM_CPU_QUERY_SYMBOL "iree_hal_executable_library_query"
#define SHIM_CPU_LIBRARY_VERSION 6u
#define SHIM_CPU_LIBRARY_OLDEST_VERSION 3u

#define SHIM_CPU_MAX_CONSTANTS 64
#define SHIM_CPU_MAX_BINDINGS 64
#define SHIM_CPU_LOCAL_MEMORY_PAGE 4096u
#define SHIM_CPU_FIELD_COUNT 8

// The export's workgroups must run in order on one thread.
#define SHIM_CPU_DISPATCH_FLAG_SEQUENTIAL 1ull
// The export takes its workgroup size from the dispatch.
#define SHIM_CPU_DISPATCH_FLAG_WORKGROUP_SIZE_DYNAMIC 2ull

// Kernels for x86_64 follow the System V convention on every system. Win64's
// own differs in registers for arguments and in those that a call preserves:
// the compiler of the calling function sees to both.
#if defined(_WIN32) && defined(__x86_64__)
#define SHIM_KERNEL_CALL __attribute__((sysv_abi))
#else
#define SHIM_KERNEL_CALL
#endif

// A function of the host that a kernel may call.
typedef int(SHIM_KERNEL_CALL* shim_import_fn_t)(void* params, void* context,
                                                void* reserved);
typedef int(SHIM_KERNEL_CALL* shim_import_thunk_fn_t)(shim_import_fn_t function,
                                                      void* params,
                                                      void* context,
                                                      void* reserved);

// Shared by all calls of a library.
typedef struct shim_environment_t {
  const uint32_t* constants;            // specialization constants
  shim_import_thunk_fn_t import_thunk;  // calls through to an import
  const shim_import_fn_t* import_funcs;
  const void* const* import_contexts;
  uint64_t processor[SHIM_CPU_FIELD_COUNT];  // feature bits
} shim_environment_t;

// Shared by all workgroups of a dispatch.
typedef struct shim_dispatch_state_t {
  uint32_t workgroup_size_x;
  uint32_t workgroup_size_y;
  uint16_t workgroup_size_z;
  uint16_t constant_count;
  uint32_t workgroup_count_x;
  uint32_t workgroup_count_y;
  uint16_t workgroup_count_z;
  uint8_t max_concurrency;
  uint8_t binding_count;
  const uint32_t* constants;
  void* const* binding_ptrs;
  const size_t* binding_lengths;
} shim_dispatch_state_t;

// State of one workgroup.
typedef struct shim_workgroup_state_t {
  uint32_t workgroup_id_x;
  uint32_t workgroup_id_y;
  uint16_t workgroup_id_z;
  uint16_t reserved;
  uint32_t processor_id;
  void* local_memory;
  uint32_t local_memory_size;
} shim_workgroup_state_t;

// Returns 0, or anything else to fail the dispatch.
typedef int(SHIM_KERNEL_CALL* shim_dispatch_fn_t)(
    const shim_environment_t* environment,
    const shim_dispatch_state_t* dispatch,
    const shim_workgroup_state_t* workgroup);

typedef struct shim_library_header_t {
  uint32_t version;
  const char* name;
  uint32_t features;   // none are defined
  uint32_t sanitizer;  // 0 none, 1 address, 2 memory, 3 thread, 4 undefined
} shim_library_header_t;

typedef struct shim_import_table_t {
  uint32_t count;
  const char* const* symbols;  // a leading '?' marks an optional one
} shim_import_table_t;

typedef struct shim_dispatch_attributes_t {
  uint64_t flags;
  uint16_t local_memory_pages;
  uint8_t constant_count;
  uint8_t binding_count;
  uint32_t workgroup_size_x;
  uint32_t workgroup_size_y;
  uint16_t workgroup_size_z;
  uint16_t parameter_count;
  uint64_t reserved[5];
} shim_dispatch_attributes_t;

typedef struct shim_export_table_t {
  uint32_t count;
  const shim_dispatch_fn_t* ptrs;
  const shim_dispatch_attributes_t* attrs;
  const void* params;
  const void* occupancy;
  const char* const* names;
  const char* const* tags;
  const void* parameter_names;
  const void* source_locations;
  const void* stage_locations;
} shim_export_table_t;

typedef struct shim_constant_table_t {
  uint32_t count;
} shim_constant_table_t;

typedef struct shim_source_table_t {
  uint32_t count;
  const void* files;
} shim_source_table_t;

typedef struct shim_library_t {
  const shim_library_header_t* header;
  shim_import_table_t imports;
  shim_export_table_t exports;
  shim_constant_table_t constants;
  shim_source_table_t sources;
} shim_library_t;

typedef const shim_library_t*(SHIM_KERNEL_CALL* shim_query_fn_t)(
    uint32_t max_version, const shim_environment_t* environment);

// Versions 3 (IREE from before March 2023 to March 2024) and 4 (to August
// 2024): only the program knows the numbers of constants and bindings. The
// table of attributes may be missing. The names may be missing in any version,
// because some compilers omit them when no symbols are requested.
typedef struct shim_dispatch_attributes_v3_t {
  uint16_t local_memory_pages;
  uint16_t reserved;
} shim_dispatch_attributes_v3_t;

// Version 5 (to September 2025).
typedef struct shim_dispatch_attributes_v5_t {
  uint16_t local_memory_pages;
  uint8_t constant_count;
  uint8_t binding_count;
  uint32_t reserved_0;
  uint64_t reserved[8];
} shim_dispatch_attributes_v5_t;

typedef struct shim_export_table_v3_t {
  uint32_t count;
  const shim_dispatch_fn_t* ptrs;
  const void* attrs;
  const char* const* names;
  const char* const* tags;
  const void* source_locations;
} shim_export_table_v3_t;

typedef struct shim_library_v3_t {
  const shim_library_header_t* header;
  shim_import_table_t imports;
  shim_export_table_v3_t exports;
  shim_constant_table_t constants;
} shim_library_v3_t;

// Versions 4 and 5.
typedef struct shim_library_v4_t {
  const shim_library_header_t* header;
  shim_import_table_t imports;
  shim_export_table_v3_t exports;
  const void* stage_locations;  // the last field of the export table
  shim_constant_table_t constants;
  shim_source_table_t sources;
} shim_library_v4_t;

#define SHIM_ABI_FIELD(type, field, at) \
  _Static_assert(offsetof(type, field) == (at), "fixed by the compiler")
_Static_assert(sizeof(shim_environment_t) == 96, "fixed by the compiler");
SHIM_ABI_FIELD(shim_environment_t, import_contexts, 24);
SHIM_ABI_FIELD(shim_environment_t, processor, 32);
_Static_assert(sizeof(shim_dispatch_state_t) == 48, "fixed by the compiler");
SHIM_ABI_FIELD(shim_dispatch_state_t, workgroup_size_z, 8);
SHIM_ABI_FIELD(shim_dispatch_state_t, constant_count, 10);
SHIM_ABI_FIELD(shim_dispatch_state_t, workgroup_count_x, 12);
SHIM_ABI_FIELD(shim_dispatch_state_t, workgroup_count_z, 20);
SHIM_ABI_FIELD(shim_dispatch_state_t, max_concurrency, 22);
SHIM_ABI_FIELD(shim_dispatch_state_t, binding_count, 23);
SHIM_ABI_FIELD(shim_dispatch_state_t, constants, 24);
SHIM_ABI_FIELD(shim_dispatch_state_t, binding_ptrs, 32);
SHIM_ABI_FIELD(shim_dispatch_state_t, binding_lengths, 40);
_Static_assert(sizeof(shim_workgroup_state_t) == 32, "fixed by the compiler");
SHIM_ABI_FIELD(shim_workgroup_state_t, workgroup_id_z, 8);
SHIM_ABI_FIELD(shim_workgroup_state_t, processor_id, 12);
SHIM_ABI_FIELD(shim_workgroup_state_t, local_memory, 16);
SHIM_ABI_FIELD(shim_workgroup_state_t, local_memory_size, 24);
_Static_assert(sizeof(shim_library_header_t) == 24, "fixed by the compiler");
_Static_assert(sizeof(shim_dispatch_attributes_t) == 64,
               "fixed by the compiler");
SHIM_ABI_FIELD(shim_dispatch_attributes_t, workgroup_size_x, 12);
SHIM_ABI_FIELD(shim_dispatch_attributes_t, workgroup_size_z, 20);
SHIM_ABI_FIELD(shim_dispatch_attributes_t, reserved, 24);
_Static_assert(sizeof(shim_export_table_t) == 80, "fixed by the compiler");
SHIM_ABI_FIELD(shim_export_table_t, names, 40);
_Static_assert(sizeof(shim_library_t) == 128, "fixed by the compiler");
SHIM_ABI_FIELD(shim_library_t, imports, 8);
SHIM_ABI_FIELD(shim_library_t, exports, 24);
SHIM_ABI_FIELD(shim_library_t, constants, 104);
SHIM_ABI_FIELD(shim_library_t, sources, 112);
_Static_assert(sizeof(shim_dispatch_attributes_v3_t) == 4,
               "fixed by the compiler");
_Static_assert(sizeof(shim_dispatch_attributes_v5_t) == 72,
               "fixed by the compiler");
_Static_assert(sizeof(shim_export_table_v3_t) == 48, "fixed by the compiler");
SHIM_ABI_FIELD(shim_export_table_v3_t, names, 24);
_Static_assert(sizeof(shim_library_v3_t) == 80, "fixed by the compiler");
SHIM_ABI_FIELD(shim_library_v3_t, constants, 72);
_Static_assert(sizeof(shim_library_v4_t) == 104, "fixed by the compiler");
SHIM_ABI_FIELD(shim_library_v4_t, constants, 80);
SHIM_ABI_FIELD(shim_library_v4_t, sources, 88);
#undef SHIM_ABI_FIELD

#endif  // IREE4J_SHIM_CPU_ABI_H_
