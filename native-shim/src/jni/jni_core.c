// JNI glue for status and layouts: argument conversion and nothing else.
#include <string.h>

#include "jni_shim.h"

jint shim__copy_text(const char* text, jlong address, jint capacity) {
  size_t length = strlen(text);
  size_t copied = length < (size_t)capacity ? length : (size_t)capacity;
  memcpy(HANDLE(char, address), text, copied);
  return (jint)length;
}

static jint jni_abi_version(JNIEnv* env, jclass cls) {
  (void)env, (void)cls;
  return (jint)shim_abi_version();
}

static jint jni_capabilities(JNIEnv* env, jclass cls) {
  (void)env, (void)cls;
  return (jint)shim_capabilities();
}

// Sizes and offsets that Java relies on, in the order of Shim.LAYOUT.
static jint jni_layout(JNIEnv* env, jclass cls, jlong out, jint capacity) {
  (void)env, (void)cls;
  const int32_t layout[] = {
      sizeof(shim_error_t),
      offsetof(shim_error_t, native_code),
      offsetof(shim_error_t, message),
      sizeof(shim_dispatch_state_t),
      sizeof(shim_cpu_export_t),
  };
  const jint count = sizeof(layout) / sizeof(layout[0]);
  memcpy(HANDLE(int32_t, out), layout,
         (size_t)(count < capacity ? count : capacity) * sizeof(layout[0]));
  return count;
}

static jint jni_status_name(JNIEnv* env, jclass cls, jint status, jlong out,
                            jint capacity) {
  (void)env, (void)cls;
  return shim__copy_text(shim_status_name(status), out, capacity);
}

static const JNINativeMethod* method_at(jint i) {
  const shim__method_table_t* table = shim__method_tables;
  for (; i >= *table->count; ++table) i -= *table->count;
  return &table->methods[i];
}

static jint jni_method_count(JNIEnv* env, jclass cls) {
  (void)env, (void)cls;
  jint count = 0;
  for (const shim__method_table_t* table = shim__method_tables; table->methods;
       ++table) {
    count += *table->count;
  }
  return count;
}

static jint jni_method_name(JNIEnv* env, jclass cls, jint i, jlong out,
                            jint capacity) {
  (void)env, (void)cls;
  return shim__copy_text(method_at(i)->name, out, capacity);
}

static jint jni_method_signature(JNIEnv* env, jclass cls, jint i, jlong out,
                                 jint capacity) {
  (void)env, (void)cls;
  return shim__copy_text(method_at(i)->signature, out, capacity);
}

// Binds the methods of a driver's class. Returns 0 for a class without methods
// here, or with NoSuchMethodError pending.
static jint jni_bind(JNIEnv* env, jclass cls, jlong class_name,
                     jclass methods) {
  (void)cls;
  for (const shim__method_table_t* table = shim__method_tables; table->methods;
       ++table) {
    if (strcmp(table->class_name, HANDLE(const char, class_name)) == 0) {
      return (*env)->RegisterNatives(env, methods, table->methods,
                                     *table->count) == JNI_OK;
    }
  }
  return 0;
}

// One line per native method of Shim.java, in the same order.
const JNINativeMethod shim__core_methods[] = {
    SHIM__METHOD("abiVersion", "()I", jni_abi_version),
    SHIM__METHOD("capabilities", "()I", jni_capabilities),
    SHIM__METHOD("layout", "(JI)I", jni_layout),
    SHIM__METHOD("statusName", "(IJI)I", jni_status_name),
    SHIM__METHOD("methodCount", "()I", jni_method_count),
    SHIM__METHOD("methodName", "(IJI)I", jni_method_name),
    SHIM__METHOD("methodSignature", "(IJI)I", jni_method_signature),
    SHIM__METHOD("bind", "(JLjava/lang/Class;)I", jni_bind),
};
const jint shim__core_method_count =
    sizeof(shim__core_methods) / sizeof(shim__core_methods[0]);
