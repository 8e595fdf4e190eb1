// The relocation types as pure arithmetic: touches no memory, so the tables of
// all machines are built and tested on any host. Sources: the x86-64 and
// AArch64 ELF processor supplements. Calls shim_status.c only.
#include "elf.h"

typedef unsigned long long ull;

// Stores the low |width| bytes of |value| after checking that they represent
// it.
static shim_status_t store(uint64_t value, uint32_t width, bool is_signed,
                           uint32_t type, uint64_t* out_value,
                           uint32_t* out_width, shim_error_t* error) {
  if (width == 4) {
    bool fits = is_signed ? (int64_t)value == (int32_t)value
                          : value == (uint32_t)value;
    if (!fits) {
      return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                            "value of ELF relocation type %u does not fit 32 "
                            "bits; compile with -fPIC",
                            type);
    }
  }
  *out_value = value;
  *out_width = width;
  return SHIM_OK;
}

static shim_status_t unknown(const char* machine, uint32_t type,
                             shim_error_t* error) {
  return shim_error_set(error, SHIM_UNIMPLEMENTED, 0,
                        "ELF relocation type %u of %s is not supported; "
                        "compile with -fPIC and hidden visibility",
                        type, machine);
}

static shim_status_t compute_x86_64(const shim__elf_relocation_t* r,
                                    uint64_t* value, uint32_t* width,
                                    shim_error_t* error) {
  const uint64_t addend = (uint64_t)r->addend;
  switch (r->type) {
    case 0:  // NONE
      return SHIM_OK;
    case 1:  // 64
      return store(r->symbol + addend, 8, false, 1, value, width, error);
    case 2:  // PC32
      return store(r->symbol + addend - r->place, 4, true, 2, value, width,
                   error);
    case 5:  // COPY: nothing is imported, so the symbol's own address serves
    case 6:  // GLOB_DAT
    case 7:  // JUMP_SLOT
      return store(r->symbol, 8, false, r->type, value, width, error);
    case 8:  // RELATIVE
      return store(r->base + addend, 8, false, 8, value, width, error);
    case 10:  // 32
      return store(r->symbol + addend, 4, false, 10, value, width, error);
    case 11:  // 32S
      return store(r->symbol + addend, 4, true, 11, value, width, error);
    default:
      return unknown("x86_64", r->type, error);
  }
}

static shim_status_t compute_arm_64(const shim__elf_relocation_t* r,
                                    uint64_t* value, uint32_t* width,
                                    shim_error_t* error) {
  const uint64_t addend = (uint64_t)r->addend;
  switch (r->type) {
    case 0:  // NONE
      return SHIM_OK;
    case 257:   // ABS64
    case 1025:  // GLOB_DAT
    case 1026:  // JUMP_SLOT
      return store(r->symbol + addend, 8, false, r->type, value, width, error);
    case 1027:  // RELATIVE
      return store(r->base + addend, 8, false, 1027, value, width, error);
    default:
      return unknown("arm_64", r->type, error);
  }
}

shim_status_t shim__elf_relocation_compute(
    uint16_t machine, const shim__elf_relocation_t* relocation,
    uint64_t* out_value, uint32_t* out_width, shim_error_t* error) {
  *out_value = 0;
  *out_width = 0;
  switch (machine) {
    case ELF_MACHINE_X86_64:
      return compute_x86_64(relocation, out_value, out_width, error);
    case ELF_MACHINE_ARM_64:
      return compute_arm_64(relocation, out_value, out_width, error);
    default:
      return unknown(shim__elf_machine_name(machine), relocation->type, error);
  }
}
