// JNI glue for CPU features and executables: argument conversion and nothing
// else.
#include "jni_shim.h"

static jint jni_cpu_architecture(JNIEnv* env, jclass cls, jlong out,
                                 jint capacity) {
  (void)env, (void)cls;
  return shim__copy_text(shim_cpu_architecture(), out, capacity);
}

static void jni_cpu_features(JNIEnv* env, jclass cls, jlong out_fields) {
  (void)env, (void)cls;
  shim_cpu_features_query(HANDLE(uint64_t, out_fields));
}

static jint jni_cpu_feature(JNIEnv* env, jclass cls, jlong name, jint length) {
  (void)env, (void)cls;
  return shim_cpu_feature_lookup(HANDLE(char, name), (size_t)length);
}

static jlong jni_executable_create(JNIEnv* env, jclass cls, jlong name,
                                   jint name_length, jlong elf, jlong elf_size,
                                   jlong constants, jint constant_count,
                                   jint flags, jlong error) {
  (void)env, (void)cls;
  const shim_cpu_executable_params_t params = {
      .name = HANDLE(char, name),
      .name_length = (size_t)name_length,
      .elf = HANDLE(void, elf),
      .elf_size = (size_t)elf_size,
      .constants = HANDLE(uint32_t, constants),
      .constant_count = (size_t)constant_count,
      .flags = (uint32_t)flags,
  };
  shim_cpu_executable_t* executable = NULL;
  shim_cpu_executable_create(&params, &executable, HANDLE(shim_error_t, error));
  return (jlong)(uintptr_t)executable;
}

static void jni_executable_release(JNIEnv* env, jclass cls, jlong executable) {
  (void)env, (void)cls;
  shim_cpu_executable_release(HANDLE(shim_cpu_executable_t, executable));
}

static jint jni_executable_export_count(JNIEnv* env, jclass cls,
                                        jlong executable) {
  (void)env, (void)cls;
  return (jint)shim_cpu_executable_export_count(
      HANDLE(shim_cpu_executable_t, executable));
}

static jint jni_executable_export(JNIEnv* env, jclass cls, jlong executable,
                                  jint ordinal, jlong out_export, jlong error) {
  (void)env, (void)cls;
  return shim_cpu_executable_export_query(
      HANDLE(shim_cpu_executable_t, executable), (uint32_t)ordinal,
      HANDLE(shim_cpu_export_t, out_export), HANDLE(shim_error_t, error));
}

static jint jni_executable_export_name(JNIEnv* env, jclass cls,
                                       jlong executable, jint ordinal,
                                       jlong out, jint capacity) {
  (void)env, (void)cls;
  shim_cpu_export_t info;
  shim_cpu_executable_export_query(HANDLE(shim_cpu_executable_t, executable),
                                   (uint32_t)ordinal, &info, NULL);
  return shim__copy_text(info.name ? info.name : "", out, capacity);
}

static jint jni_executable_dispatch(JNIEnv* env, jclass cls, jlong executable,
                                    jint ordinal, jlong state, jlong begin,
                                    jlong end, jlong local_memory,
                                    jlong local_memory_size, jint processor_id,
                                    jlong error) {
  (void)env, (void)cls;
  const shim_cpu_dispatch_t dispatch = {
      .ordinal = (uint32_t)ordinal,
      .processor_id = (uint32_t)processor_id,
      .state = HANDLE(shim_dispatch_state_t, state),
      .begin = (uint64_t)begin,
      .end = (uint64_t)end,
      .local_memory = HANDLE(void, local_memory),
      .local_memory_size = (uint64_t)local_memory_size,
  };
  return shim_cpu_executable_dispatch(HANDLE(shim_cpu_executable_t, executable),
                                      &dispatch, HANDLE(shim_error_t, error));
}

// One line per native method of Shim.java, in the same order.
const JNINativeMethod shim__cpu_methods[] = {
    SHIM__METHOD("cpuArchitecture", "(JI)I", jni_cpu_architecture),
    SHIM__METHOD("cpuFeatures", "(J)V", jni_cpu_features),
    SHIM__METHOD("cpuFeature", "(JI)I", jni_cpu_feature),
    SHIM__METHOD("executableCreate", "(JIJJJIIJ)J", jni_executable_create),
    SHIM__METHOD("executableRelease", "(J)V", jni_executable_release),
    SHIM__METHOD("executableExportCount", "(J)I", jni_executable_export_count),
    SHIM__METHOD("executableExport", "(JIJJ)I", jni_executable_export),
    SHIM__METHOD("executableExportName", "(JIJI)I", jni_executable_export_name),
    SHIM__METHOD("executableDispatch", "(JIJJJJJIJ)I", jni_executable_dispatch),
};
const jint shim__cpu_method_count =
    sizeof(shim__cpu_methods) / sizeof(shim__cpu_methods[0]);
