// Registers the native methods of Shim.java when the library is loaded: a
// mismatch fails there, naming the method, rather than at the first call. The
// methods of drivers, which may be absent, are bound by Shim.bind.
#include "jni_shim.h"

#define SHIM_CLASS "io/github/iree4j/nativeaccess/Shim"
#define GPU_CLASS "io/github/iree4j/nativeaccess/gpu/GpuShim"
#define VULKAN_CLASS "io/github/iree4j/nativeaccess/vulkan/VulkanShim"

const shim__method_table_t shim__method_tables[] = {
    {SHIM_CLASS, false, shim__core_methods, &shim__core_method_count},
    {SHIM_CLASS, false, shim__cpu_methods, &shim__cpu_method_count},
    {SHIM_CLASS, false, shim__event_methods, &shim__event_method_count},
    {SHIM_CLASS, false, shim__file_methods, &shim__file_method_count},
    {SHIM_CLASS, false, shim__thread_methods, &shim__thread_method_count},
    {VULKAN_CLASS, true, shim__vulkan_methods, &shim__vulkan_method_count},
    {GPU_CLASS, true, shim__gpu_methods, &shim__gpu_method_count},
    {NULL, false, NULL, NULL},
};

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void* reserved) {
  (void)reserved;
  JNIEnv* env = NULL;
  if ((*vm)->GetEnv(vm, (void**)&env, JNI_VERSION_10) != JNI_OK) return JNI_ERR;
  for (const shim__method_table_t* table = shim__method_tables; table->methods;
       ++table) {
    if (table->is_of_driver) continue;
    jclass cls = (*env)->FindClass(env, table->class_name);
    if (!cls) return JNI_ERR;  // leaves NoClassDefFoundError pending
    const jint registered =
        (*env)->RegisterNatives(env, cls, table->methods, *table->count);
    (*env)->DeleteLocalRef(env, cls);
    if (registered != JNI_OK) return JNI_ERR;  // leaves NoSuchMethodError
  }
  return JNI_VERSION_10;
}

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM* vm, void* reserved) {
  (void)vm, (void)reserved;
}
