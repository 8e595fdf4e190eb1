// Registers the native methods of Shim.java when the library is loaded: a
// mismatch fails there, naming the method, and not at its first call.
#include "jni_shim.h"

const shim__method_table_t shim__method_tables[] = {
    {shim__core_methods, &shim__core_method_count},
    {shim__cpu_methods, &shim__cpu_method_count},
    {shim__event_methods, &shim__event_method_count},
    {shim__file_methods, &shim__file_method_count},
    {shim__thread_methods, &shim__thread_method_count},
    {NULL, NULL},
};

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void* reserved) {
  (void)reserved;
  JNIEnv* env = NULL;
  if ((*vm)->GetEnv(vm, (void**)&env, JNI_VERSION_10) != JNI_OK) return JNI_ERR;
  jclass cls = (*env)->FindClass(env, "io/github/iree4j/nativeaccess/Shim");
  if (!cls) return JNI_ERR;  // leaves NoClassDefFoundError pending
  for (const shim__method_table_t* table = shim__method_tables; table->methods;
       ++table) {
    if ((*env)->RegisterNatives(env, cls, table->methods, *table->count) !=
        JNI_OK) {
      return JNI_ERR;  // leaves NoSuchMethodError pending
    }
  }
  (*env)->DeleteLocalRef(env, cls);
  return JNI_VERSION_10;
}

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM* vm, void* reserved) {
  (void)vm, (void)reserved;
}
