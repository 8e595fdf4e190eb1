// JNI glue for files and sealed memory: argument conversion and nothing else.
#include "jni_shim.h"
#include "shim_file.h"

static jint jni_file_open(JNIEnv* env, jclass cls, jlong path, jint length,
                          jint access, jlong out_fd, jlong error) {
  (void)env, (void)cls;
  return shim_file_open(HANDLE(const char, path), (size_t)length,
                        (uint32_t)access, HANDLE(int32_t, out_fd),
                        HANDLE(shim_error_t, error));
}

static jint jni_file_length(JNIEnv* env, jclass cls, jint fd, jlong out_length,
                            jlong error) {
  (void)env, (void)cls;
  return shim_file_length(fd, HANDLE(int64_t, out_length),
                          HANDLE(shim_error_t, error));
}

static jlong jni_sealed_create(JNIEnv* env, jclass cls, jlong size,
                               jlong error) {
  (void)env, (void)cls;
  shim_sealed_t* sealed = NULL;
  shim_sealed_create((uint64_t)size, &sealed, HANDLE(shim_error_t, error));
  return (jlong)(uintptr_t)sealed;
}

static jlong jni_sealed_map(JNIEnv* env, jclass cls, jint fd, jlong error) {
  (void)env, (void)cls;
  shim_sealed_t* sealed = NULL;
  shim_sealed_map(fd, &sealed, HANDLE(shim_error_t, error));
  return (jlong)(uintptr_t)sealed;
}

static jlong jni_sealed_size(JNIEnv* env, jclass cls, jlong sealed) {
  (void)env, (void)cls;
  return (jlong)shim_sealed_size(HANDLE(shim_sealed_t, sealed));
}

static jlong jni_sealed_bytes(JNIEnv* env, jclass cls, jlong sealed) {
  (void)env, (void)cls;
  return (jlong)(uintptr_t)shim_sealed_bytes(HANDLE(shim_sealed_t, sealed));
}

static jint jni_sealed_seal(JNIEnv* env, jclass cls, jlong sealed,
                            jlong error) {
  (void)env, (void)cls;
  return shim_sealed_seal(HANDLE(shim_sealed_t, sealed),
                          HANDLE(shim_error_t, error));
}

static void jni_sealed_release(JNIEnv* env, jclass cls, jlong sealed) {
  (void)env, (void)cls;
  shim_sealed_release(HANDLE(shim_sealed_t, sealed));
}

static jlong jni_page_size(JNIEnv* env, jclass cls) {
  (void)env, (void)cls;
  return (jlong)shim_page_size();
}

static jlong jni_slab_create(JNIEnv* env, jclass cls, jlong size,
                             jlong alignment, jlong error) {
  (void)env, (void)cls;
  shim_slab_t* slab = NULL;
  shim_slab_create((uint64_t)size, (uint64_t)alignment, &slab,
                   HANDLE(shim_error_t, error));
  return (jlong)(uintptr_t)slab;
}

static jlong jni_slab_bytes(JNIEnv* env, jclass cls, jlong slab) {
  (void)env, (void)cls;
  return (jlong)(uintptr_t)shim_slab_bytes(HANDLE(shim_slab_t, slab));
}

static void jni_slab_release(JNIEnv* env, jclass cls, jlong slab) {
  (void)env, (void)cls;
  shim_slab_release(HANDLE(shim_slab_t, slab));
}

static jlong jni_view_create(JNIEnv* env, jclass cls, jlong sealed,
                             jlong offset, jlong length, jlong error) {
  (void)env, (void)cls;
  shim_view_t* view = NULL;
  shim_view_create(HANDLE(shim_sealed_t, sealed), (uint64_t)offset,
                   (uint64_t)length, &view, HANDLE(shim_error_t, error));
  return (jlong)(uintptr_t)view;
}

static jlong jni_view_bytes(JNIEnv* env, jclass cls, jlong view) {
  (void)env, (void)cls;
  return (jlong)(uintptr_t)shim_view_bytes(HANDLE(shim_view_t, view));
}

static jint jni_view_is_written(JNIEnv* env, jclass cls, jlong view) {
  (void)env, (void)cls;
  return shim_view_is_written(HANDLE(shim_view_t, view));
}

static jint jni_view_restore(JNIEnv* env, jclass cls, jlong view, jlong error) {
  (void)env, (void)cls;
  return shim_view_restore(HANDLE(shim_view_t, view),
                           HANDLE(shim_error_t, error));
}

static void jni_view_release(JNIEnv* env, jclass cls, jlong view) {
  (void)env, (void)cls;
  shim_view_release(HANDLE(shim_view_t, view));
}

static jlong jni_file_ring_create(JNIEnv* env, jclass cls, jint entries,
                                  jlong error) {
  (void)env, (void)cls;
  shim_file_ring_t* ring = NULL;
  shim_file_ring_create((uint32_t)entries, &ring, HANDLE(shim_error_t, error));
  return (jlong)(uintptr_t)ring;
}

static void jni_file_ring_release(JNIEnv* env, jclass cls, jlong ring) {
  (void)env, (void)cls;
  shim_file_ring_release(HANDLE(shim_file_ring_t, ring));
}

static jint jni_file_ring_fd(JNIEnv* env, jclass cls, jlong ring) {
  (void)env, (void)cls;
  return shim_file_ring_fd(HANDLE(shim_file_ring_t, ring));
}

static jint jni_file_ring_submit(JNIEnv* env, jclass cls, jlong ring,
                                 jlong operations, jint count, jlong out_count,
                                 jlong error) {
  (void)env, (void)cls;
  return shim_file_ring_submit(HANDLE(shim_file_ring_t, ring),
                               HANDLE(shim_file_operation_t, operations),
                               (uint32_t)count, HANDLE(uint32_t, out_count),
                               HANDLE(shim_error_t, error));
}

static jint jni_file_ring_poll(JNIEnv* env, jclass cls, jlong ring,
                               jint capacity, jlong out_completions) {
  (void)env, (void)cls;
  return (jint)shim_file_ring_poll(HANDLE(shim_file_ring_t, ring),
                                   (uint32_t)capacity,
                                   HANDLE(shim_completion_t, out_completions));
}

// One line per native method of Shim.java, in the same order.
const JNINativeMethod shim__file_methods[] = {
    SHIM__METHOD("fileOpen", "(JIIJJ)I", jni_file_open),
    SHIM__METHOD("fileLength", "(IJJ)I", jni_file_length),
    SHIM__METHOD("sealedCreate", "(JJ)J", jni_sealed_create),
    SHIM__METHOD("sealedMap", "(IJ)J", jni_sealed_map),
    SHIM__METHOD("sealedSize", "(J)J", jni_sealed_size),
    SHIM__METHOD("sealedBytes", "(J)J", jni_sealed_bytes),
    SHIM__METHOD("sealedSeal", "(JJ)I", jni_sealed_seal),
    SHIM__METHOD("sealedRelease", "(J)V", jni_sealed_release),
    SHIM__METHOD("pageSize", "()J", jni_page_size),
    SHIM__METHOD("slabCreate", "(JJJ)J", jni_slab_create),
    SHIM__METHOD("slabBytes", "(J)J", jni_slab_bytes),
    SHIM__METHOD("slabRelease", "(J)V", jni_slab_release),
    SHIM__METHOD("viewCreate", "(JJJJ)J", jni_view_create),
    SHIM__METHOD("viewBytes", "(J)J", jni_view_bytes),
    SHIM__METHOD("viewIsWritten", "(J)I", jni_view_is_written),
    SHIM__METHOD("viewRestore", "(JJ)I", jni_view_restore),
    SHIM__METHOD("viewRelease", "(J)V", jni_view_release),
    SHIM__METHOD("fileRingCreate", "(IJ)J", jni_file_ring_create),
    SHIM__METHOD("fileRingRelease", "(J)V", jni_file_ring_release),
    SHIM__METHOD("fileRingFd", "(J)I", jni_file_ring_fd),
    SHIM__METHOD("fileRingSubmit", "(JJIJJ)I", jni_file_ring_submit),
    SHIM__METHOD("fileRingPoll", "(JIJ)I", jni_file_ring_poll),
};
const jint shim__file_method_count =
    sizeof(shim__file_methods) / sizeof(shim__file_methods[0]);
