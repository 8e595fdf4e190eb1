// Pools of the fakes, from which memory comes and to which it goes in the order
// of a stream; and which devices use the memory of others.
#include <string.h>

#include "fake_gpu.h"

//===--------------------------------------------------------------------===//
// Pools
//===--------------------------------------------------------------------===//

static bool is_device(int location, int device) {
  return location == SGPU_LOCATION_DEVICE && device >= 0 &&
         device < fake_settings.device_count;
}

int fake_pool_create(sgpu_pool_t* out_pool, const sgpu_pool_params_t* params) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_pool_create, &context);
  static const sgpu_pool_params_t zeros;
  if (!code &&
      (params->type != SGPU_POOL_PINNED || params->handle_types ||
       params->security || !is_device(params->location, params->device) ||
       memcmp(params->reserved, zeros.reserved, sizeof(zeros.reserved)))) {
    code = SGPU_INVALID_VALUE;
  }
  if (!code && params->device != context->device) {
    fake_complain("a pool of another device than that of the context");
    code = SGPU_INVALID_VALUE;
  }
  if (!code) *out_pool = fake_make(FAKE_POOL, context);
  return fake_end(code);
}

int fake_pool_destroy(sgpu_pool_t pool) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_pool_destroy, &context);
  if (context) {
    int own = fake_check(FAKE_POOL, pool, context);
    if (!own) {
      fake_trim_pool(pool);
      if (fake_leave_pool(pool) && !context->error) {
        fake_complain("a pool is destroyed whose memory is in use");
      }
      fake_drop(FAKE_POOL, pool);
    }
    if (!code) code = own;
  }
  return fake_end(code);
}

int fake_pool_access(sgpu_pool_t pool, const sgpu_pool_access_t* access,
                     size_t count) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_pool_access, &context);
  if (!code) code = fake_check(FAKE_POOL, pool, NULL);
  for (size_t i = 0; !code && i < count; ++i) {
    if (!is_device(access[i].location, access[i].device) ||
        access[i].rights != SGPU_POOL_READ_WRITE) {
      code = SGPU_INVALID_VALUE;
    } else if (!fake_settings.peer) {
      code = SGPU_INVALID_DEVICE;
    } else {
      pool->users |= 1u << access[i].device;
    }
  }
  return fake_end(code);
}

// The memory may be used by what follows on the stream, and by others once that
// has come to it.
int fake_pool_allocate(uint64_t* out_address, size_t size, sgpu_pool_t pool,
                       sgpu_stream_t stream) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_pool_allocate, &context);
  *out_address = 0;
  if (!code) code = fake_check(FAKE_POOL, pool, context);
  if (!code) code = fake_check(FAKE_STREAM, stream, context);
  if (!code && stream->queue->capture) code = FAKE_CAPTURE_UNSUPPORTED;
  if (!code && size) code = fake_take_from_pool(pool, size, out_address);
  if (!code && *out_address) {
    code = fake_submit(
        stream, (fake_op_t){.kind = OP_ALLOCATE, .target = *out_address});
  } else if (!code && !size) {
    code = FAKE_PICK(SGPU_INVALID_VALUE, SGPU_SUCCESS);
  }
  return fake_end(code);
}

int fake_pool_free(uint64_t address, sgpu_stream_t stream) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_pool_free, &context);
  if (!code) code = fake_check(FAKE_STREAM, stream, context);
  if (!code && stream->queue->capture) code = FAKE_CAPTURE_UNSUPPORTED;
  if (!code && !address) return fake_end(SGPU_INVALID_VALUE);
  if (!code) code = fake_begin_free(address);
  if (!code) {
    code = fake_submit(stream,
                       (fake_op_t){.kind = OP_FREE, .target = address});
  }
  return fake_end(code);
}

//===--------------------------------------------------------------------===//
// Peers
//===--------------------------------------------------------------------===//

bool fake_reaches(sgpu_context_t context, const fake_range_t* range) {
  if (range->kind != FAKE_MEMORY_DEVICE || range->context == context) {
    return true;
  }
  return range->pool ? range->pool->users >> context->device & 1
                     : context->peers[range->device] ==
                           range->context->object.generation;
}

static int ask(int device, int peer) {
  return is_device(SGPU_LOCATION_DEVICE, device) &&
                 is_device(SGPU_LOCATION_DEVICE, peer)
             ? SGPU_SUCCESS
             : SGPU_INVALID_DEVICE;
}

int fake_peer_ask(int* out_can, int device, int peer) {
  int code = fake_begin_driver(CALL_peer_ask);
  if (!code) code = ask(device, peer);
  if (!code) *out_can = fake_settings.peer && device != peer;
  return fake_end(code);
}

static int enable(sgpu_context_t context, sgpu_context_t peer,
                  unsigned flags) {
  if (flags) return SGPU_INVALID_VALUE;
  if (context == peer) return SGPU_INVALID_DEVICE;
  if (!fake_settings.peer) return SGPU_PEER_ACCESS_UNSUPPORTED;
  uint64_t* enabled = &context->peers[peer->device];
  if (*enabled == peer->object.generation) {
    return SGPU_PEER_ACCESS_ALREADY_ENABLED;
  }
  *enabled = peer->object.generation;
  return SGPU_SUCCESS;
}

#ifdef FAKE_HIP
int fake_peer_hip(int peer, unsigned flags) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_peer_hip, &context);
  if (!code) code = ask(peer, peer);
  sgpu_context_t other = code ? NULL : fake_primary(peer);
  if (!code && !other) {
    fake_complain("device %d, which is not in use, becomes a peer", peer);
    code = SGPU_INVALID_DEVICE;
  }
  if (!code) code = enable(context, other, flags);
  return fake_end(code);
}
#else
int fake_peer_cuda(sgpu_context_t peer, unsigned flags) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_peer_cuda, &context);
  if (!code) code = fake_check(FAKE_CONTEXT, peer, NULL);
  if (!code) code = enable(context, peer, flags);
  return fake_end(code);
}
#endif
