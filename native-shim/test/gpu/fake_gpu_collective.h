// What the two files of the fakes' collectives share.
#ifndef IREE4J_FAKE_GPU_COLLECTIVE_H_
#define IREE4J_FAKE_GPU_COLLECTIVE_H_

#include "fake_gpu.h"

enum { MAX_MEMBERS = 16, MAX_CALLS = 256 };

typedef enum fake_meeting_kind_t {
  ALL_GATHER,
  ALL_REDUCE,
  REDUCE_SCATTER,
  BROADCAST,
  REDUCE,
  SEND,  // both ends of a transfer
  RECEIVE,
} fake_meeting_kind_t;

typedef struct fake_clique_t {
  struct fake_clique_t* next;
  int references;  // by communicators and parts
  char id[128];
  int count, joined;
  sgpu_comm_t members[MAX_MEMBERS];
  bool left[MAX_MEMBERS];  // finalized or gone
  uint64_t transfers[MAX_MEMBERS][MAX_MEMBERS][2];  // given by both ends
  struct fake_meeting_t* meetings;
} fake_clique_t;

// What one participant brings to a meeting.
typedef struct fake_call_of_t {
  fake_meeting_kind_t kind;
  int type, reduction, root;
  uint64_t source, target, count;
} fake_call_of_t;

typedef struct fake_meeting_t {
  struct fake_meeting_t* next;
  bool transfer;
  int from, to;
  uint64_t number;
  int given, arrived, expected, left;
  bool done;
  fake_call_of_t calls[MAX_MEMBERS];
} fake_meeting_t;

// The calls of one communicator in one group call: one operation of a stream.
typedef struct fake_part_t {
  struct fake_part_t* next;
  fake_clique_t* clique;
  sgpu_comm_t comm;
  sgpu_stream_t stream;
  int rank, count;
  bool submitted, arrived, stuck, aborted;
  fake_meeting_t* meetings[MAX_CALLS];
} fake_part_t;

// Bytes that a call reads and writes.
void fake_sizes_of(const fake_clique_t* clique, int rank,
                   const fake_call_of_t* call, uint64_t* reads,
                   uint64_t* writes);

#endif  // IREE4J_FAKE_GPU_COLLECTIVE_H_
