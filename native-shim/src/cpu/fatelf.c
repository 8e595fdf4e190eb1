// Selects one ELF file from a FatELF archive. Calls shim_status.c only.
#include <string.h>

#include "elf.h"

shim_status_t shim__fatelf_select(const uint8_t* bytes, uint64_t size,
                                  const uint8_t** out_bytes,
                                  uint64_t* out_size, shim_error_t* error) {
  *out_bytes = bytes;
  *out_size = size;
  fatelf_header_t header;
  if (size < sizeof(header)) return SHIM_OK;
  memcpy(&header, bytes, sizeof(header));
  if (header.magic != FATELF_MAGIC) return SHIM_OK;

  *out_bytes = NULL;
  *out_size = 0;
  if (header.version != FATELF_VERSION) {
    return shim_error_set(error, SHIM_UNIMPLEMENTED, 0,
                          "FatELF version is %u, expected %d", header.version,
                          FATELF_VERSION);
  }
  uint64_t tables =
      sizeof(header) + header.record_count * sizeof(fatelf_record_t);
  if (tables > size) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "malformed FatELF: %u records do not fit %llu bytes",
                          header.record_count, (unsigned long long)size);
  }
  for (uint32_t i = 0; i < header.record_count; ++i) {
    fatelf_record_t record;
    memcpy(&record, bytes + sizeof(header) + i * sizeof(record),
           sizeof(record));
    // 0 is "none", 3 Linux, 255 standalone: what the compiler emits.
    bool usable_abi =
        record.osabi == 0 || record.osabi == 3 || record.osabi == 255;
    if (record.machine != SHIM__ELF_HOST_MACHINE || !usable_abi ||
        record.word_size != FATELF_WORD_64 ||
        record.byte_order != FATELF_ORDER_LITTLE) {
      continue;
    }
    if (record.offset < tables || record.offset > size ||
        record.size > size - record.offset) {
      return shim_error_set(
          error, SHIM_INVALID_ARGUMENT, 0,
          "malformed FatELF: record %u takes bytes [%llu, +%llu) of %llu", i,
          (unsigned long long)record.offset, (unsigned long long)record.size,
          (unsigned long long)size);
    }
    *out_bytes = bytes + record.offset;
    *out_size = record.size;
    return SHIM_OK;
  }
  return shim_error_set(error, SHIM_INCOMPATIBLE, 0,
                        "FatELF has no file for %s among its %u",
                        shim__elf_machine_name(SHIM__ELF_HOST_MACHINE),
                        header.record_count);
}
