// JNI glue for events of the operating system: argument conversion and nothing
// else.
#include "jni_shim.h"

static jint jni_event_create(JNIEnv* env, jclass cls, jlong out_fd,
                             jlong error) {
  (void)env, (void)cls;
  return shim_event_create(HANDLE(int32_t, out_fd),
                           HANDLE(shim_error_t, error));
}

static jint jni_event_duplicate(JNIEnv* env, jclass cls, jint fd, jlong out_fd,
                                jlong error) {
  (void)env, (void)cls;
  return shim_event_duplicate(fd, HANDLE(int32_t, out_fd),
                              HANDLE(shim_error_t, error));
}

static void jni_event_close(JNIEnv* env, jclass cls, jint fd) {
  (void)env, (void)cls;
  shim_event_close(fd);
}

static jint jni_event_signal(JNIEnv* env, jclass cls, jint fd, jlong amount,
                             jlong error) {
  (void)env, (void)cls;
  return shim_event_signal(fd, (uint64_t)amount, HANDLE(shim_error_t, error));
}

static jint jni_event_take(JNIEnv* env, jclass cls, jint fd, jlong out_count,
                           jlong error) {
  (void)env, (void)cls;
  return shim_event_take(fd, HANDLE(uint64_t, out_count),
                         HANDLE(shim_error_t, error));
}

static jint jni_event_outcome(JNIEnv* env, jclass cls, jint fd, jlong out_code,
                              jlong error) {
  (void)env, (void)cls;
  return shim_event_outcome(fd, HANDLE(int32_t, out_code),
                            HANDLE(shim_error_t, error));
}

static jint jni_poller_create(JNIEnv* env, jclass cls, jlong out_poller,
                              jlong error) {
  (void)env, (void)cls;
  return shim_poller_create(HANDLE(int32_t, out_poller),
                            HANDLE(shim_error_t, error));
}

static void jni_poller_release(JNIEnv* env, jclass cls, jint poller) {
  (void)env, (void)cls;
  shim_poller_release(poller);
}

static jint jni_poller_add(JNIEnv* env, jclass cls, jint poller, jint fd,
                           jlong token, jlong error) {
  (void)env, (void)cls;
  return shim_poller_add(poller, fd, (uint64_t)token,
                         HANDLE(shim_error_t, error));
}

static jint jni_poller_keep(JNIEnv* env, jclass cls, jint poller, jint fd,
                            jlong token, jlong error) {
  (void)env, (void)cls;
  return shim_poller_keep(poller, fd, (uint64_t)token,
                          HANDLE(shim_error_t, error));
}

static void jni_poller_remove(JNIEnv* env, jclass cls, jint poller, jint fd) {
  (void)env, (void)cls;
  shim_poller_remove(poller, fd);
}

static jint jni_poller_wait(JNIEnv* env, jclass cls, jint poller,
                            jlong timeout_ns, jint capacity, jlong out_events,
                            jlong out_count, jlong error) {
  (void)env, (void)cls;
  return shim_poller_wait(poller, timeout_ns, (uint32_t)capacity,
                          HANDLE(shim_completion_t, out_events),
                          HANDLE(uint32_t, out_count),
                          HANDLE(shim_error_t, error));
}

// One line per native method of Shim.java, in the same order.
const JNINativeMethod shim__event_methods[] = {
    SHIM__METHOD("eventCreate", "(JJ)I", jni_event_create),
    SHIM__METHOD("eventDuplicate", "(IJJ)I", jni_event_duplicate),
    SHIM__METHOD("eventClose", "(I)V", jni_event_close),
    SHIM__METHOD("eventSignal", "(IJJ)I", jni_event_signal),
    SHIM__METHOD("eventTake", "(IJJ)I", jni_event_take),
    SHIM__METHOD("eventOutcome", "(IJJ)I", jni_event_outcome),
    SHIM__METHOD("pollerCreate", "(JJ)I", jni_poller_create),
    SHIM__METHOD("pollerRelease", "(I)V", jni_poller_release),
    SHIM__METHOD("pollerAdd", "(IIJJ)I", jni_poller_add),
    SHIM__METHOD("pollerKeep", "(IIJJ)I", jni_poller_keep),
    SHIM__METHOD("pollerRemove", "(II)V", jni_poller_remove),
    SHIM__METHOD("pollerWait", "(IJIJJJ)I", jni_poller_wait),
};
const jint shim__event_method_count =
    sizeof(shim__event_methods) / sizeof(shim__event_methods[0]);
