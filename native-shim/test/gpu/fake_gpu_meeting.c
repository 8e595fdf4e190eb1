// What participants of collectives do once all have come. The last one moves
// and reduces the elements of all.
#include <stdlib.h>
#include <string.h>

#include "fake_gpu_collective.h"
#include "ptx_number.h"

static uint64_t size_of(int type) {
  switch (type) {
    case 0:
    case 1:
      return 1;
    case 6:
    case 9:
      return 2;
    case 2:
    case 3:
    case 7:
      return 4;
    default:
      return 8;
  }
}

void fake_sizes_of(const fake_clique_t* clique, int rank,
                   const fake_call_of_t* call, uint64_t* reads,
                   uint64_t* writes) {
  uint64_t bytes = call->count * size_of(call->type);
  uint64_t count = (uint64_t)clique->count;
  *reads = *writes = bytes;
  switch (call->kind) {
    case ALL_GATHER:
      *writes = bytes * count;
      break;
    case REDUCE_SCATTER:
      *reads = bytes * count;
      break;
    case BROADCAST:
      if (rank != call->root) *reads = 0;
      break;
    case REDUCE:
      if (rank != call->root) *writes = 0;
      break;
    case SEND:
      *writes = 0;
      break;
    case RECEIVE:
      *reads = 0;
      break;
    default:
      break;
  }
}

static void* pointer(uint64_t address) { return (void*)(uintptr_t)address; }

static double load_float(int type, const void* at) {
  uint64_t bits = 0;
  memcpy(&bits, at, size_of(type));
  switch (type) {
    case 6:
      return (double)ptx_from_half((uint16_t)bits);
    case 7:
      return (double)ptx_float((uint32_t)bits);
    case 8:
      return ptx_double(bits);
    default:
      return (double)ptx_from_bfloat((uint16_t)bits);
  }
}

static void store_float(int type, void* at, double value) {
  uint64_t bits = type == 6   ? ptx_to_half(value, PTX_NEAREST)
                  : type == 7 ? ptx_bits((float)value)
                  : type == 8 ? ptx_bits64(value)
                              : ptx_to_bfloat(value, PTX_NEAREST);
  memcpy(at, &bits, size_of(type));
}

static uint64_t load_integer(int type, const void* at) {
  uint64_t value = 0;
  memcpy(&value, at, size_of(type));  // little-endian
  if (type == 0) return (uint64_t)(int64_t)(int8_t)value;
  if (type == 2) return (uint64_t)(int64_t)(int32_t)value;
  return value;
}

// 0 sum, 1 product, 2 maximum, 3 minimum, 4 average.
static double reduce_floats(int reduction, double left, double right) {
  switch (reduction) {
    case 1:
      return left * right;
    case 2:
      return left != left || left > right ? left : right;
    case 3:
      return left != left || left < right ? left : right;
    default:
      return left + right;
  }
}

static uint64_t reduce_integers(int type, int reduction, uint64_t left,
                                uint64_t right) {
  bool is_signed = type == 0 || type == 2 || type == 4;
  bool less = is_signed ? (int64_t)left < (int64_t)right : left < right;
  switch (reduction) {
    case 1:
      return left * right;
    case 2:
      return less ? right : left;
    case 3:
      return less ? left : right;
    default:
      return left + right;
  }
}

// Reduces |count| elements of all, from |first| on, into |out|.
static void reduce_all(const fake_meeting_t* meeting, uint64_t first,
                       uint64_t count, uint8_t* out) {
  const fake_call_of_t* call = &meeting->calls[0];
  uint64_t size = size_of(call->type);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t at = (first + i) * size;
    uint64_t integer = 0;
    double real = 0;
    for (int r = 0; r < meeting->expected; ++r) {
      const uint8_t* from = pointer(meeting->calls[r].source);
      if (call->type >= 6) {
        double next = load_float(call->type, from + at);
        real = r ? reduce_floats(call->reduction, real, next) : next;
      } else {
        uint64_t next = load_integer(call->type, from + at);
        integer =
            r ? reduce_integers(call->type, call->reduction, integer, next)
              : next;
      }
    }
    if (call->type >= 6) {
      if (call->reduction == 4) real /= meeting->expected;
      store_float(call->type, out + i * size, real);
    } else {
      memcpy(out + i * size, &integer, size);
    }
  }
}

static bool agree(const fake_meeting_t* meeting) {
  const fake_call_of_t* first = &meeting->calls[0];
  for (int r = 1; r < meeting->expected; ++r) {
    const fake_call_of_t* call = &meeting->calls[r];
    if (call->type != first->type || call->count != first->count ||
        (!meeting->transfer &&
         (call->kind != first->kind || call->root != first->root ||
          call->reduction != first->reduction))) {
      return false;
    }
  }
  return true;
}

static void work(const fake_meeting_t* meeting) {
  const fake_call_of_t* calls = meeting->calls;
  uint64_t bytes = calls[0].count * size_of(calls[0].type);
  int count = meeting->expected;
  if (meeting->transfer) {
    memmove(pointer(calls[1].target), pointer(calls[0].source), bytes);
    return;
  }
  uint64_t all = bytes * (uint64_t)count;
  uint8_t* result = malloc(all + 1);
  switch (calls[0].kind) {
    case ALL_GATHER:
      for (int r = 0; r < count; ++r) {
        memcpy(result + bytes * (uint64_t)r, pointer(calls[r].source), bytes);
      }
      for (int r = 0; r < count; ++r) {
        memcpy(pointer(calls[r].target), result, all);
      }
      break;
    case BROADCAST:
      for (int r = 0; r < count; ++r) {
        memmove(pointer(calls[r].target), pointer(calls[calls[0].root].source),
                bytes);
      }
      break;
    case REDUCE_SCATTER:
      reduce_all(meeting, 0, calls[0].count * (uint64_t)count, result);
      for (int r = 0; r < count; ++r) {
        memcpy(pointer(calls[r].target), result + bytes * (uint64_t)r, bytes);
      }
      break;
    default:
      reduce_all(meeting, 0, calls[0].count, result);
      for (int r = 0; r < count; ++r) {
        if (calls[0].kind == ALL_REDUCE || r == calls[0].root) {
          memcpy(pointer(calls[r].target), result, bytes);
        }
      }
      break;
  }
  free(result);
}

// Gives access to the memory of a meeting, or ends that.
static void access_all(const fake_clique_t* clique,
                       const fake_meeting_t* meeting, bool begin) {
  for (int i = 0; i < meeting->expected; ++i) {
    const fake_call_of_t* call = &meeting->calls[i];
    int rank = meeting->transfer ? (i ? meeting->to : meeting->from) : i;
    uint64_t sizes[2] = {0, 0};
    fake_sizes_of(clique, rank, call, &sizes[0], &sizes[1]);
    const uint64_t addresses[2] = {call->source, call->target};
    for (int side = 0; side < 2; ++side) {
      fake_range_t* range =
          sizes[side] ? fake_find(addresses[side], sizes[side]) : NULL;
      if (range) (begin ? fake_open : fake_close)(range);
    }
  }
}

bool fake_part_can_begin(fake_part_t* part) {
  if (part->aborted) return true;
  if (part->stuck) {
    if (!part->comm->code) part->comm->code = SGPU_COMM_REMOTE;
    return false;
  }
  if (!part->arrived) {
    part->arrived = true;
    for (int i = 0; i < part->count; ++i) ++part->meetings[i]->arrived;
    pthread_cond_broadcast(&fake_changed);
  }
  for (int i = 0; i < part->count; ++i) {
    const fake_meeting_t* meeting = part->meetings[i];
    if (!meeting->done && meeting->arrived < meeting->expected) return false;
  }
  return true;
}

int fake_run_part(fake_part_t* part) {
  if (part->aborted) return SGPU_SUCCESS;
  for (int i = 0; i < part->count; ++i) {
    fake_meeting_t* meeting = part->meetings[i];
    if (meeting->done) continue;
    meeting->done = true;
    if (!agree(meeting)) {
      fake_complain("participants of a collective disagree");
      continue;
    }
    access_all(part->clique, meeting, true);
    work(meeting);
    access_all(part->clique, meeting, false);
  }
  return SGPU_SUCCESS;
}

void fake_use_part(fake_op_t* op, const fake_part_t* part) {
  for (int i = 0; i < part->count; ++i) {
    const fake_meeting_t* meeting = part->meetings[i];
    for (int r = 0; r < meeting->expected; ++r) {
      int rank = meeting->transfer ? (r ? meeting->to : meeting->from) : r;
      if (rank != part->rank) continue;
      const fake_call_of_t* call = &meeting->calls[r];
      uint64_t reads = 0;
      uint64_t writes = 0;
      fake_sizes_of(part->clique, rank, call, &reads, &writes);
      if (reads) fake_use(op, call->source, reads);
      if (writes) fake_use(op, call->target, writes);
    }
  }
}
