// Collectives of the fakes: groups of participants within the process, each a
// device, that meet on their streams. As NCCL and RCCL do with communicators
// that do not block: joining, leaving and group calls go on after
// the call, until the communicator was asked for its state; what a group call
// gives is on its streams only then.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_gpu_collective.h"

static fake_clique_t* cliques;
static fake_part_t* parts;  // all that are not over
static uint64_t ids;

static _Thread_local int depth;
static _Thread_local fake_part_t* grouped;

//===--------------------------------------------------------------------===//
// Cliques
//===--------------------------------------------------------------------===//

static fake_clique_t* new_clique(int count) {
  fake_clique_t* clique = calloc(1, sizeof(*clique));
  clique->count = count;
  clique->next = cliques;
  cliques = clique;
  return clique;
}

static void release_clique(fake_clique_t* clique) {
  if (--clique->references) return;
  for (fake_clique_t** at = &cliques; *at; at = &(*at)->next) {
    if (*at == clique) {
      *at = clique->next;
      break;
    }
  }
  while (clique->meetings) {
    fake_meeting_t* next = clique->meetings->next;
    free(clique->meetings);
    clique->meetings = next;
  }
  free(clique);
}

static void enter(fake_clique_t* clique, sgpu_comm_t comm, int rank) {
  comm->clique = clique;
  comm->rank = rank;
  comm->left = fake_settings.join_slow + 1;
  clique->members[rank] = comm;
  ++clique->joined;
  ++clique->references;
  for (int i = 0; i < clique->count; ++i) {
    sgpu_comm_t other = clique->members[i];
    if (i != rank && other &&
        other->object.context == comm->object.context) {
      // As the libraries find: two participants on one device.
      other->code = comm->code = SGPU_COMM_INVALID_USAGE;
    }
  }
}

static int begin_comm(fake_call_t call, sgpu_comm_t comm) {
  sgpu_context_t context = NULL;
  int code = fake_begin(call, &context);
  if (code > SGPU_COMM_TIMEOUT) code = SGPU_COMM_UNHANDLED;
  if (!code && comm && fake_check(FAKE_COMM, comm, context)) {
    code = SGPU_COMM_INVALID_ARGUMENT;
  }
  return code;
}

int fake_comm_unique_id(sgpu_unique_id_t* out_id) {
  fake_begin_bare(CALL_comm_unique_id);
  int code = fake_next_failure(CALL_comm_unique_id);
  memset(out_id, 0, sizeof(*out_id));
  ++ids;
  memcpy(out_id->bytes, &ids, sizeof(ids));
  out_id->bytes[127] = (char)0xF7;  // all bytes count, whatever they are
  return fake_end(code);
}

int fake_comm_join(sgpu_comm_t* out_comm, int count, sgpu_unique_id_t id,
                   int rank, sgpu_comm_config_t* config) {
  int code = begin_comm(CALL_comm_join, NULL);
  sgpu_context_t context = NULL;
  if (!code && fake_current(&context)) code = SGPU_COMM_UNHANDLED;
  if (!code &&
      (config->magic != (unsigned)SGPU_COMM_MAGIC || config->blocking ||
       config->size < sizeof(*config) || config->version < 21400)) {
    fake_complain("a communicator is configured badly, or to block");
    code = SGPU_COMM_INVALID_ARGUMENT;
  }
  if (!code && (rank < 0 || rank >= count || count > MAX_MEMBERS)) {
    code = SGPU_COMM_INVALID_ARGUMENT;
  }
  if (code) return fake_end(code);
  fake_clique_t* clique = cliques;
  while (clique && memcmp(clique->id, id.bytes, sizeof(clique->id))) {
    clique = clique->next;
  }
  if (!clique) {
    clique = new_clique(count);
    memcpy(clique->id, id.bytes, sizeof(clique->id));
  }
  if (clique->count != count || clique->members[rank]) {
    fake_complain("participant %d of %d joins %d others with its rank or count",
                  rank, count, clique->joined);
    return fake_end(SGPU_COMM_INVALID_ARGUMENT);
  }
  sgpu_comm_t comm = fake_make(FAKE_COMM, context);
  enter(clique, comm, rank);
  *out_comm = comm;
  return fake_end(SGPU_COMM_IN_PROGRESS);
}

//===--------------------------------------------------------------------===//
// State and end
//===--------------------------------------------------------------------===//

static bool all_left(const fake_clique_t* clique) {
  for (int i = 0; i < clique->count; ++i) {
    if (!clique->left[i]) return false;
  }
  return true;
}

// Gives the streams what group calls have; whether there was something.
static bool submit_parts(sgpu_comm_t comm) {
  for (bool any = false;; any = true) {
    fake_part_t* part = parts;
    while (part && (part->comm != comm || part->submitted)) part = part->next;
    if (!part) return any;
    part->submitted = true;
    if (fake_submit(part->stream,
                    (fake_op_t){.kind = OP_COLLECTIVE, .part = part}) &&
        !comm->code) {
      comm->code = SGPU_COMM_UNHANDLED;
    }
  }
}

static int state_of(sgpu_comm_t comm) {
  if (comm->code) return comm->code;
  const fake_clique_t* clique = comm->clique;
  if (!clique || clique->joined < clique->count) return SGPU_COMM_IN_PROGRESS;
  if (comm->left && --comm->left) return SGPU_COMM_IN_PROGRESS;
  if (comm->finalized) {
    return all_left(clique) ? SGPU_COMM_SUCCESS : SGPU_COMM_IN_PROGRESS;
  }
  return submit_parts(comm) ? SGPU_COMM_IN_PROGRESS : SGPU_COMM_SUCCESS;
}

int fake_comm_error(sgpu_comm_t comm, int* out_code) {
  int code = begin_comm(CALL_comm_error, comm);
  if (!code) *out_code = state_of(comm);
  return fake_end(code);
}

static bool has_parts(sgpu_comm_t comm) {
  for (const fake_part_t* part = parts; part; part = part->next) {
    if (part->comm == comm && !part->aborted) return true;
  }
  return false;
}

int fake_comm_finalize(sgpu_comm_t comm) {
  int code = begin_comm(CALL_comm_finalize, comm);
  if (!code && (comm->finalized || !comm->clique)) {
    code = SGPU_COMM_INVALID_ARGUMENT;
  }
  if (code) return fake_end(code);
  if (has_parts(comm)) {
    fake_complain("participant %d leaves while it takes part", comm->rank);
  }
  comm->finalized = true;
  comm->clique->left[comm->rank] = true;
  return fake_end(SGPU_COMM_IN_PROGRESS);
}

static void drop_comm(sgpu_comm_t comm) {
  fake_clique_t* clique = comm->clique;
  if (clique) {
    clique->left[comm->rank] = true;
    clique->members[comm->rank] = NULL;
    release_clique(clique);
  }
  fake_drop(FAKE_COMM, comm);
}

int fake_comm_destroy(sgpu_comm_t comm) {
  int code = begin_comm(CALL_comm_destroy, comm);
  if (code) return fake_end(code);
  if (comm->clique && (!comm->finalized || !all_left(comm->clique))) {
    fake_complain("participant %d is destroyed before all have left",
                  comm->rank);
  }
  drop_comm(comm);
  return fake_end(SGPU_COMM_SUCCESS);
}

// Also of a dead context.
int fake_comm_abort(sgpu_comm_t comm) {
  fake_begin_bare(CALL_comm_abort);
  if (fake_check(FAKE_COMM, comm, NULL)) {
    return fake_end(SGPU_COMM_INVALID_ARGUMENT);
  }
  for (fake_part_t** at = &parts; *at;) {
    fake_part_t* part = *at;
    if (part->comm != comm) {
      at = &part->next;
      continue;
    }
    part->aborted = true;
    if (part->submitted) {
      at = &part->next;
    } else {
      fake_release_part(part);  // takes it off
      at = &parts;
    }
  }
  drop_comm(comm);
  pthread_cond_broadcast(&fake_changed);
  return fake_end(SGPU_COMM_SUCCESS);
}

//===--------------------------------------------------------------------===//
// Group calls
//===--------------------------------------------------------------------===//

int fake_group_start(void) {
  fake_begin_bare(CALL_group_start);
  int code = fake_next_failure(CALL_group_start);
  if (!code) ++depth;
  return fake_end(code);
}

// Finds the meeting of a call, or makes it.
static fake_meeting_t* meeting_of(sgpu_comm_t comm, const fake_call_of_t* call) {
  fake_clique_t* clique = comm->clique;
  bool transfer = call->kind == SEND || call->kind == RECEIVE;
  int from = call->kind == SEND ? comm->rank : call->root;
  int to = call->kind == SEND ? call->root : comm->rank;
  uint64_t number =
      transfer ? clique->transfers[from][to][call->kind == RECEIVE]++
               : comm->given++;
  fake_meeting_t* found = clique->meetings;
  while (found && (found->number != number || found->transfer != transfer ||
                   (transfer && (found->from != from || found->to != to)))) {
    found = found->next;
  }
  if (!found) {
    found = calloc(1, sizeof(*found));
    found->number = number;
    found->transfer = transfer;
    found->from = from;
    found->to = to;
    found->expected = found->left = transfer ? 2 : clique->count;
    found->next = clique->meetings;
    clique->meetings = found;
  }
  int party = transfer ? call->kind == RECEIVE : comm->rank;
  found->calls[party] = *call;
  ++found->given;
  return found;
}

static void issue(void) {
  while (grouped) {
    fake_part_t* part = grouped;
    grouped = part->next;
    part->next = NULL;
    fake_part_t** end = &parts;
    while (*end) end = &(*end)->next;
    *end = part;
  }
}

int fake_group_end(void) {
  fake_begin_bare(CALL_group_end);
  int code = fake_next_failure(CALL_group_end);
  if (!depth) {
    fake_complain("a group call ends that did not begin");
    return fake_end(SGPU_COMM_INVALID_USAGE);
  }
  bool any = grouped != NULL;
  if (!--depth) issue();
  return fake_end(code ? code : any ? SGPU_COMM_IN_PROGRESS : 0);
}

static bool is_memory(uint64_t address, uint64_t size) {
  return !size || fake_find(address, size);
}

static int collective(fake_call_t name, sgpu_comm_t comm, sgpu_stream_t stream,
                      fake_call_of_t call) {
  int code = begin_comm(name, comm);
  if (!code && fake_check(FAKE_STREAM, stream, comm->object.context)) {
    code = SGPU_COMM_INVALID_ARGUMENT;
  }
  if (!code && (!comm->clique || comm->clique->joined < comm->clique->count)) {
    fake_complain("a collective is given before its participants have joined");
    code = SGPU_COMM_INVALID_USAGE;
  }
  if (!code && (call.root < 0 || call.root >= comm->clique->count)) {
    code = SGPU_COMM_INVALID_ARGUMENT;
  }
  if (!code && comm->code) code = comm->code;
  if (code) return fake_end(code);
  uint64_t reads = 0;
  uint64_t writes = 0;
  fake_sizes_of(comm->clique, comm->rank, &call, &reads, &writes);
  if (!is_memory(call.source, reads) || !is_memory(call.target, writes)) {
    fake_complain("a collective of participant %d uses what is no memory",
                  comm->rank);
    return fake_end(SGPU_COMM_INVALID_ARGUMENT);
  }
  fake_part_t* part = grouped;
  while (part && (part->comm != comm || part->stream != stream)) {
    part = part->next;
  }
  if (!part) {
    part = calloc(1, sizeof(*part));
    part->clique = comm->clique;
    ++comm->clique->references;
    part->comm = comm;
    part->stream = stream;
    part->rank = comm->rank;
    part->next = grouped;
    grouped = part;
  }
  if (part->count == MAX_CALLS) {
    fake_complain("a group call has more than %d collectives", MAX_CALLS);
    return fake_end(SGPU_COMM_INTERNAL);
  }
  part->meetings[part->count++] = meeting_of(comm, &call);
  if (fake_settings.comm_error_at && comm->rank == fake_settings.comm_error_rank &&
      --fake_settings.comm_error_at == 0) {
    part->stuck = true;
  }
  if (!depth) issue();
  return fake_end(SGPU_COMM_IN_PROGRESS);
}

int fake_all_gather(uint64_t source, uint64_t target, size_t count, int type,
                    sgpu_comm_t comm, sgpu_stream_t stream) {
  return collective(CALL_all_gather, comm, stream,
                    (fake_call_of_t){.kind = ALL_GATHER,
                                     .type = type,
                                     .source = source,
                                     .target = target,
                                     .count = count});
}

int fake_all_reduce(uint64_t source, uint64_t target, size_t count, int type,
                    int reduction, sgpu_comm_t comm, sgpu_stream_t stream) {
  return collective(CALL_all_reduce, comm, stream,
                    (fake_call_of_t){.kind = ALL_REDUCE,
                                     .type = type,
                                     .reduction = reduction,
                                     .source = source,
                                     .target = target,
                                     .count = count});
}

int fake_reduce_scatter(uint64_t source, uint64_t target, size_t count,
                        int type, int reduction, sgpu_comm_t comm,
                        sgpu_stream_t stream) {
  return collective(CALL_reduce_scatter, comm, stream,
                    (fake_call_of_t){.kind = REDUCE_SCATTER,
                                     .type = type,
                                     .reduction = reduction,
                                     .source = source,
                                     .target = target,
                                     .count = count});
}

int fake_broadcast(uint64_t source, uint64_t target, size_t count, int type,
                   int root, sgpu_comm_t comm, sgpu_stream_t stream) {
  return collective(CALL_broadcast, comm, stream,
                    (fake_call_of_t){.kind = BROADCAST,
                                     .type = type,
                                     .root = root,
                                     .source = source,
                                     .target = target,
                                     .count = count});
}

int fake_reduce(uint64_t source, uint64_t target, size_t count, int type,
                int reduction, int root, sgpu_comm_t comm,
                sgpu_stream_t stream) {
  return collective(CALL_reduce, comm, stream,
                    (fake_call_of_t){.kind = REDUCE,
                                     .type = type,
                                     .reduction = reduction,
                                     .root = root,
                                     .source = source,
                                     .target = target,
                                     .count = count});
}

int fake_send(uint64_t source, size_t count, int type, int peer,
              sgpu_comm_t comm, sgpu_stream_t stream) {
  return collective(CALL_send, comm, stream,
                    (fake_call_of_t){.kind = SEND,
                                     .type = type,
                                     .root = peer,
                                     .source = source,
                                     .count = count});
}

int fake_receive(uint64_t target, size_t count, int type, int peer,
                 sgpu_comm_t comm, sgpu_stream_t stream) {
  return collective(CALL_receive, comm, stream,
                    (fake_call_of_t){.kind = RECEIVE,
                                     .type = type,
                                     .root = peer,
                                     .target = target,
                                     .count = count});
}

void fake_release_part(fake_part_t* part) {
  if (!part) return;
  for (fake_part_t** at = &parts; *at; at = &(*at)->next) {
    if (*at == part) {
      *at = part->next;
      break;
    }
  }
  fake_clique_t* clique = part->clique;
  for (int i = 0; i < part->count; ++i) {
    fake_meeting_t* meeting = part->meetings[i];
    if (--meeting->left) continue;
    fake_meeting_t** at = &clique->meetings;
    while (*at != meeting) at = &(*at)->next;
    *at = meeting->next;
    free(meeting);
  }
  release_clique(clique);
  free(part);
}

FAKE_EXPORT const char* ncclGetErrorString(int code);
const char* ncclGetErrorString(int code) {
  return code == SGPU_COMM_REMOTE ? "another participant is gone"
         : code == SGPU_COMM_SYSTEM ? "the system has no more"
                                    : "an error of the fake";
}

FAKE_EXPORT const char* ncclGetLastError(sgpu_comm_t comm);
const char* ncclGetLastError(sgpu_comm_t comm) {
  (void)comm;
  return "the fake was told so";
}
