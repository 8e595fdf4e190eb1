// Registers the native methods of Shim.java when the library is loaded: a
// mismatch fails there, naming the method, and not at its first call.
#include "jni_shim.h"

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void* reserved) {
  (void)reserved;
  JNIEnv* env = NULL;
  if ((*vm)->GetEnv(vm, (void**)&env, JNI_VERSION_10) != JNI_OK) return JNI_ERR;
  jclass cls = (*env)->FindClass(env, "io/github/iree4j/nativeaccess/Shim");
  if (!cls) return JNI_ERR;  // leaves NoClassDefFoundError pending
  if ((*env)->RegisterNatives(env, cls, shim__core_methods,
                              shim__core_method_count) != JNI_OK ||
      (*env)->RegisterNatives(env, cls, shim__cpu_methods,
                              shim__cpu_method_count) != JNI_OK ||
      (*env)->RegisterNatives(env, cls, shim__event_methods,
                              shim__event_method_count) != JNI_OK ||
      (*env)->RegisterNatives(env, cls, shim__thread_methods,
                              shim__thread_method_count) != JNI_OK) {
    return JNI_ERR;  // leaves NoSuchMethodError pending
  }
  (*env)->DeleteLocalRef(env, cls);
  return JNI_VERSION_10;
}

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM* vm, void* reserved) {
  (void)vm, (void)reserved;
}
