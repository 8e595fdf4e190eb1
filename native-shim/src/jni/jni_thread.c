// JNI glue for the calling thread: argument conversion and nothing else.
#include "jni_shim.h"

static jint jni_thread_set_affinity(JNIEnv* env, jclass cls, jlong mask,
                                    jint word_count, jlong error) {
  (void)env, (void)cls;
  return shim_thread_set_affinity(HANDLE(uint64_t, mask), (size_t)word_count,
                                  HANDLE(shim_error_t, error));
}

static jint jni_thread_affinity(JNIEnv* env, jclass cls, jlong out_mask,
                                jint word_count, jlong error) {
  (void)env, (void)cls;
  return shim_thread_affinity(HANDLE(uint64_t, out_mask), (size_t)word_count,
                              HANDLE(shim_error_t, error));
}

static jint jni_thread_flushes_denormals(JNIEnv* env, jclass cls) {
  (void)env, (void)cls;
  return shim_thread_flushes_denormals();
}

// One line per native method of Shim.java, in the same order.
const JNINativeMethod shim__thread_methods[] = {
    SHIM__METHOD("threadSetAffinity", "(JIJ)I", jni_thread_set_affinity),
    SHIM__METHOD("threadAffinity", "(JIJ)I", jni_thread_affinity),
    SHIM__METHOD("threadFlushesDenormals", "()I", jni_thread_flushes_denormals),
};
const jint shim__thread_method_count =
    sizeof(shim__thread_methods) / sizeof(shim__thread_methods[0]);
