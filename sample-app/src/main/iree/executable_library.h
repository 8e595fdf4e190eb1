/* The interface between a runtime and a CPU executable: executable library
 * ABI, version 0.6. A runtime loads the shared object, asks its one exported
 * function for the library, and calls the exports once per workgroup.
 *
 * Only layout matters here: both sides agree on offsets, which the assertions
 * below state for 64-bit machines. */
#ifndef IREE4J_SAMPLE_EXECUTABLE_LIBRARY_H_
#define IREE4J_SAMPLE_EXECUTABLE_LIBRARY_H_

#include <stddef.h>
#include <stdint.h>

#define LIBRARY_VERSION_0_6 6u

/* What all calls into one loaded executable share. */
typedef struct {
  const uint32_t* constants; /* specialisation constants */
  int (*import_thunk)(void* function, void* params, void* context,
                      void* reserved);
  void* const* import_functions;
  void* const* import_contexts;
  uint64_t processor[8]; /* CPU feature bits */
} environment_t;

/* What all workgroups of one dispatch share. */
typedef struct {
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
  const size_t* binding_lengths; /* in bytes */
} dispatch_state_t;

/* One workgroup. */
typedef struct {
  uint32_t id_x;
  uint32_t id_y;
  uint16_t id_z;
  uint16_t reserved;
  uint32_t processor_id;
  void* local_memory;
  uint32_t local_memory_size;
} workgroup_state_t;

/* Runs one workgroup. Zero on success; anything else fails the dispatch. Safe
 * to call from several threads at a time with different workgroups. */
typedef int (*dispatch_function_t)(const environment_t* environment,
                                   const dispatch_state_t* dispatch,
                                   const workgroup_state_t* workgroup);

typedef struct {
  uint32_t version;
  const char* name;
  uint32_t features;
  uint32_t sanitizer;
} library_header_t;

typedef struct {
  uint64_t flags;
  uint16_t local_memory_pages; /* 4096 bytes each */
  uint8_t constant_count;
  uint8_t binding_count;
  uint32_t workgroup_size_x;
  uint32_t workgroup_size_y;
  uint16_t workgroup_size_z;
  uint16_t parameter_count;
  uint64_t reserved[5];
} dispatch_attributes_t;

typedef struct {
  uint32_t count;
  const dispatch_function_t* functions;
  const dispatch_attributes_t* attributes;
  const void* const* parameters;
  const void* occupancy;
  const char* const* names;
  const char* const* tags;
  const void* const* parameter_names;
  const void* source_locations;
  const void* stage_locations;
} export_table_t;

typedef struct {
  uint32_t count;
  const void* items;
} counted_table_t;

typedef struct {
  const library_header_t* header; /* first: the query returns its address */
  counted_table_t imports;
  export_table_t exports;
  uint32_t constant_count;
  uint32_t constant_padding;
  counted_table_t sources;
} library_t;

_Static_assert(sizeof(environment_t) == 96, "environment layout");
_Static_assert(sizeof(dispatch_state_t) == 48, "dispatch state layout");
_Static_assert(offsetof(dispatch_state_t, constants) == 24, "constants");
_Static_assert(sizeof(workgroup_state_t) == 32, "workgroup state layout");
_Static_assert(sizeof(library_header_t) == 24, "header layout");
_Static_assert(sizeof(dispatch_attributes_t) == 64, "attributes layout");
_Static_assert(sizeof(export_table_t) == 80, "export table layout");
_Static_assert(offsetof(library_t, exports) == 24, "exports");
_Static_assert(offsetof(library_t, constant_count) == 104, "constants");
_Static_assert(sizeof(library_t) == 128, "library layout");

#endif /* IREE4J_SAMPLE_EXECUTABLE_LIBRARY_H_ */
