// Events of the fakes. An event is its latest recording, or none: waits take
// the recording of the time of the call.
#include <stdlib.h>

#include "fake_gpu.h"

void fake_release_record(fake_record_t* record) {
  if (record && --record->references == 0) free(record);
}

int fake_event_create(sgpu_event_t* out_event, unsigned flags) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_event_create, &context);
  if (!code && flags & ~7u) code = SGPU_INVALID_VALUE;
  if (!code) *out_event = fake_make(FAKE_EVENT, context);
  return fake_end(code);
}

int fake_event_destroy(sgpu_event_t event) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_event_destroy, &context);
  if (context) {
    int own = fake_check(FAKE_EVENT, event, context);
    if (!own) {
      fake_release_record(event->record);
      fake_forget_capture(event);
      fake_drop(FAKE_EVENT, event);
    }
    if (!code) code = own;
  }
  return fake_end(code);
}

int fake_event_record(sgpu_event_t event, sgpu_stream_t stream) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_event_record, &context);
  if (!code) code = fake_check(FAKE_EVENT, event, context);
  if (!code) code = fake_check(FAKE_STREAM, stream, context);
  if (code) return fake_end(code);
  fake_record_t* record = NULL;
  if (stream->queue->capture) {
    fake_capture_record(event, stream->queue);
  } else {
    record = calloc(1, sizeof(*record));
    record->references = 2;
    fake_forget_capture(event);
  }
  fake_release_record(event->record);
  event->record = record;
  // Last: it may wait for room, and meanwhile the event may be destroyed.
  if (record) {
    code =
        fake_submit(stream, (fake_op_t){.kind = OP_RECORD, .record = record});
  }
  return fake_end(code);
}

int fake_event_query(sgpu_event_t event) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_event_query, &context);
  if (!code) code = fake_check(FAKE_EVENT, event, context);
  if (!code && event->capture) code = FAKE_CAPTURED_EVENT;
  if (!code) code = fake_refuse_capture();
  if (!code && event->record && !event->record->done) code = SGPU_NOT_READY;
  return fake_end(code);
}

static int synchronize(sgpu_context_t context, sgpu_event_t event) {
  if (++fake_waits == fake_settings.lost_wait) {
    fake_kill(context, SGPU_LAUNCH_FAILED);
  }
  int code = fake_error(context);
  fake_record_t* record = event->record;
  if (code || !record) return code;
  ++record->references;
  while (!code && !record->done) {
    fake_pause();
    code = fake_error(context);
  }
  if (!code) fake_trim(context);
  fake_release_record(record);
  // A record of a dead stream is done too, and so is one behind a collective
  // whose participants elsewhere found the devices lost first.
  return fake_error(context);
}

int fake_event_synchronize(sgpu_event_t event) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_event_synchronize, &context);
  if (!code) code = fake_check(FAKE_EVENT, event, context);
  if (!code && event->capture) code = FAKE_CAPTURED_EVENT;
  if (!code) code = fake_refuse_capture();
  if (!code) code = synchronize(context, event);
  return fake_end(code);
}
