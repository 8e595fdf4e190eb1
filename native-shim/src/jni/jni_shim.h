// Shared by the glue: conversions, and the tables that jni_onload.c registers.
#ifndef IREE4J_SHIM_JNI_H_
#define IREE4J_SHIM_JNI_H_

#include <jni.h>
#include <stdbool.h>

#include "shim.h"

// A pointer passed through Java as a long.
#define HANDLE(type, value) ((type*)(uintptr_t)(value))

#define SHIM__METHOD(name, signature, function) \
  { (char*)(name), (char*)(signature), (void*)(function) }

extern const JNINativeMethod shim__core_methods[];
extern const jint shim__core_method_count;
extern const JNINativeMethod shim__cpu_methods[];
extern const jint shim__cpu_method_count;
extern const JNINativeMethod shim__event_methods[];
extern const jint shim__event_method_count;
extern const JNINativeMethod shim__file_methods[];
extern const jint shim__file_method_count;
extern const JNINativeMethod shim__gpu_methods[];
extern const jint shim__gpu_method_count;
extern const JNINativeMethod shim__thread_methods[];
extern const jint shim__thread_method_count;
extern const JNINativeMethod shim__vulkan_methods[];
extern const jint shim__vulkan_method_count;

typedef struct shim__method_table_t {
  const char* class_name;
  bool is_of_driver;  // bound when the driver is opened, not with the library
  const JNINativeMethod* methods;
  const jint* count;
} shim__method_table_t;

// All of them, in the order of Shim.java. Ends with an entry without methods.
extern const shim__method_table_t shim__method_tables[];

// Copies text to |capacity| bytes at |address|, truncated; returns its full
// length.
jint shim__copy_text(const char* text, jlong address, jint capacity);

#endif  // IREE4J_SHIM_JNI_H_
