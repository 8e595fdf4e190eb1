// JNI glue for Vulkan: argument conversion and nothing else.
#include "jni_shim.h"
#include "shim_vulkan.h"

#define ERROR HANDLE(shim_error_t, error)
#define WORDS HANDLE(const uint64_t, words)
#define API HANDLE(shim_vulkan_api_t, api)
#define DEVICE HANDLE(shim_vulkan_device_t, device)
#define MEMORY HANDLE(shim_vulkan_memory_t, memory)
#define TIMELINE HANDLE(shim_vulkan_timeline_t, timeline)
#define CACHE HANDLE(shim_vulkan_pipeline_cache_t, cache)
#define COMMANDS HANDLE(shim_vulkan_commands_t, commands)

static jint jni_feature_name(JNIEnv* env, jclass cls, jint bit, jlong out,
                             jint capacity) {
  (void)env, (void)cls;
  const char* name = shim_vulkan_feature_name(bit);
  return name ? shim__copy_text(name, out, capacity) : 0;
}

static jint jni_kind_name(JNIEnv* env, jclass cls, jint kind, jlong out,
                          jint capacity) {
  (void)env, (void)cls;
  const char* name = shim_vulkan_kind_name(kind);
  return name ? shim__copy_text(name, out, capacity) : 0;
}

static void jni_live_objects(JNIEnv* env, jclass cls, jlong out) {
  (void)env, (void)cls;
  shim_vulkan_live_objects(HANDLE(int64_t, out));
}

static jlong jni_open(JNIEnv* env, jclass cls, jlong name, jint flags,
                      jlong error) {
  (void)env, (void)cls;
  shim_vulkan_api_t* api = NULL;
  shim_vulkan_open(HANDLE(const char, name), (uint32_t)flags, &api, ERROR);
  return (jlong)(uintptr_t)api;
}

static void jni_close(JNIEnv* env, jclass cls, jlong api) {
  (void)env, (void)cls;
  shim_vulkan_close(API);
}

static jint jni_flags(JNIEnv* env, jclass cls, jlong api) {
  (void)env, (void)cls;
  return (jint)shim_vulkan_flags(API);
}

static jint jni_version(JNIEnv* env, jclass cls, jlong api) {
  (void)env, (void)cls;
  return (jint)shim_vulkan_version(API);
}

static jlong jni_message_count(JNIEnv* env, jclass cls, jlong api) {
  (void)env, (void)cls;
  return (jlong)shim_vulkan_message_count(API);
}

static jint jni_message(JNIEnv* env, jclass cls, jlong api, jlong number,
                        jlong out, jint capacity) {
  (void)env, (void)cls;
  return (jint)shim_vulkan_message(API, (uint64_t)number, HANDLE(char, out),
                                   (size_t)capacity);
}

static jint jni_device_count(JNIEnv* env, jclass cls, jlong api) {
  (void)env, (void)cls;
  return (jint)shim_vulkan_device_count(API);
}

static jint jni_device_query(JNIEnv* env, jclass cls, jlong api, jint index,
                             jlong out, jlong size, jlong error) {
  (void)env, (void)cls;
  return shim_vulkan_device_query(API, (uint32_t)index, HANDLE(void, out),
                                  (size_t)size, ERROR);
}

static jlong jni_device_open(JNIEnv* env, jclass cls, jlong api, jint index,
                             jlong families, jint count, jlong features,
                             jlong error) {
  (void)env, (void)cls;
  shim_vulkan_device_t* device = NULL;
  shim_vulkan_device_open(API, (uint32_t)index,
                          HANDLE(const uint32_t, families), (uint32_t)count,
                          (uint64_t)features, &device, ERROR);
  return (jlong)(uintptr_t)device;
}

static void jni_device_release(JNIEnv* env, jclass cls, jlong device) {
  (void)env, (void)cls;
  shim_vulkan_device_release(DEVICE);
}

static jlong jni_device_features(JNIEnv* env, jclass cls, jlong device) {
  (void)env, (void)cls;
  return (jlong)shim_vulkan_device_features(DEVICE);
}

static jint jni_device_is_lost(JNIEnv* env, jclass cls, jlong device) {
  (void)env, (void)cls;
  return shim_vulkan_device_is_lost(DEVICE);
}

static void jni_device_live_objects(JNIEnv* env, jclass cls, jlong device,
                                    jlong out) {
  (void)env, (void)cls;
  shim_vulkan_device_live_objects(DEVICE, HANDLE(int64_t, out));
}

static jlong jni_memory_create(JNIEnv* env, jclass cls, jlong device,
                               jlong size, jint type, jint flags,
                               jlong error) {
  (void)env, (void)cls;
  shim_vulkan_memory_t* memory = NULL;
  shim_vulkan_memory_create(DEVICE, (uint64_t)size, (uint32_t)type,
                            (uint32_t)flags, &memory, ERROR);
  return (jlong)(uintptr_t)memory;
}

static jlong jni_memory_import_host(JNIEnv* env, jclass cls, jlong device,
                                    jlong address, jlong size, jlong error) {
  (void)env, (void)cls;
  shim_vulkan_memory_t* memory = NULL;
  shim_vulkan_memory_import_host(DEVICE, HANDLE(void, address), (uint64_t)size,
                                 &memory, ERROR);
  return (jlong)(uintptr_t)memory;
}

static jlong jni_memory_import_fd(JNIEnv* env, jclass cls, jlong device,
                                  jint fd, jlong size, jint type,
                                  jlong error) {
  (void)env, (void)cls;
  shim_vulkan_memory_t* memory = NULL;
  shim_vulkan_memory_import_fd(DEVICE, fd, (uint64_t)size, (uint32_t)type,
                               &memory, ERROR);
  return (jlong)(uintptr_t)memory;
}

static void jni_memory_query(JNIEnv* env, jclass cls, jlong memory, jlong out) {
  (void)env, (void)cls;
  shim_vulkan_memory_query(MEMORY, HANDLE(shim_vulkan_memory_info_t, out));
}

static jint jni_memory_export(JNIEnv* env, jclass cls, jlong memory,
                              jlong out_fd, jlong error) {
  (void)env, (void)cls;
  return shim_vulkan_memory_export(MEMORY, HANDLE(int32_t, out_fd), ERROR);
}

static void jni_memory_release(JNIEnv* env, jclass cls, jlong memory) {
  (void)env, (void)cls;
  shim_vulkan_memory_release(MEMORY);
}

static jlong jni_timeline_create(JNIEnv* env, jclass cls, jlong device,
                                 jlong initial, jint flags, jlong error) {
  (void)env, (void)cls;
  shim_vulkan_timeline_t* timeline = NULL;
  shim_vulkan_timeline_create(DEVICE, (uint64_t)initial, (uint32_t)flags,
                              &timeline, ERROR);
  return (jlong)(uintptr_t)timeline;
}

static void jni_timeline_release(JNIEnv* env, jclass cls, jlong timeline) {
  (void)env, (void)cls;
  shim_vulkan_timeline_release(TIMELINE);
}

static jint jni_timeline_value(JNIEnv* env, jclass cls, jlong timeline,
                               jlong out, jlong error) {
  (void)env, (void)cls;
  return shim_vulkan_timeline_value(TIMELINE, HANDLE(uint64_t, out), ERROR);
}

static jint jni_timeline_signal(JNIEnv* env, jclass cls, jlong timeline,
                                jlong value, jlong error) {
  (void)env, (void)cls;
  return shim_vulkan_timeline_signal(TIMELINE, (uint64_t)value, ERROR);
}

static jint jni_timeline_export(JNIEnv* env, jclass cls, jlong timeline,
                                jlong out_fd, jlong error) {
  (void)env, (void)cls;
  return shim_vulkan_timeline_export(TIMELINE, HANDLE(int32_t, out_fd), ERROR);
}

static jint jni_timeline_import(JNIEnv* env, jclass cls, jlong timeline,
                                jint fd, jlong error) {
  (void)env, (void)cls;
  return shim_vulkan_timeline_import(TIMELINE, fd, ERROR);
}

static jint jni_wait_any(JNIEnv* env, jclass cls, jlong device, jlong words,
                         jint count, jlong timeout_ns, jlong error) {
  (void)env, (void)cls;
  return shim_vulkan_wait_any(DEVICE, WORDS, (uint32_t)count, timeout_ns,
                              ERROR);
}

static jlong jni_cache_create(JNIEnv* env, jclass cls, jlong device, jlong data,
                              jlong size, jlong error) {
  (void)env, (void)cls;
  shim_vulkan_pipeline_cache_t* cache = NULL;
  shim_vulkan_pipeline_cache_create(DEVICE, HANDLE(const void, data),
                                    (size_t)size, &cache, ERROR);
  return (jlong)(uintptr_t)cache;
}

static void jni_cache_release(JNIEnv* env, jclass cls, jlong cache) {
  (void)env, (void)cls;
  shim_vulkan_pipeline_cache_release(CACHE);
}

static jint jni_cache_data(JNIEnv* env, jclass cls, jlong cache, jlong out,
                           jlong capacity, jlong out_size, jlong error) {
  (void)env, (void)cls;
  return shim_vulkan_pipeline_cache_data(CACHE, HANDLE(void, out),
                                         (size_t)capacity,
                                         HANDLE(size_t, out_size), ERROR);
}

static jlong jni_pipeline_create(JNIEnv* env, jclass cls, jlong device,
                                 jlong params, jlong error) {
  (void)env, (void)cls;
  shim_vulkan_pipeline_t* pipeline = NULL;
  shim_vulkan_pipeline_create(
      DEVICE, HANDLE(const shim_vulkan_pipeline_params_t, params), &pipeline,
      ERROR);
  return (jlong)(uintptr_t)pipeline;
}

static void jni_pipeline_release(JNIEnv* env, jclass cls, jlong pipeline) {
  (void)env, (void)cls;
  shim_vulkan_pipeline_release(HANDLE(shim_vulkan_pipeline_t, pipeline));
}

static jlong jni_commands_create(JNIEnv* env, jclass cls, jlong device,
                                 jint family, jlong error) {
  (void)env, (void)cls;
  shim_vulkan_commands_t* commands = NULL;
  shim_vulkan_commands_create(DEVICE, (uint32_t)family, &commands, ERROR);
  return (jlong)(uintptr_t)commands;
}

static void jni_commands_release(JNIEnv* env, jclass cls, jlong commands) {
  (void)env, (void)cls;
  shim_vulkan_commands_release(COMMANDS);
}

static jint jni_commands_record(JNIEnv* env, jclass cls, jlong commands,
                                jlong words, jlong count, jlong error) {
  (void)env, (void)cls;
  return shim_vulkan_commands_record(COMMANDS, WORDS, (size_t)count, ERROR);
}

static jint jni_commands_bind(JNIEnv* env, jclass cls, jlong commands,
                              jint ordinal, jlong words, jlong count,
                              jlong error) {
  (void)env, (void)cls;
  return shim_vulkan_commands_bind(COMMANDS, (uint32_t)ordinal, WORDS,
                                   (size_t)count, ERROR);
}

static jint jni_submit(JNIEnv* env, jclass cls, jlong device, jint queue,
                       jlong words, jlong count, jlong error) {
  (void)env, (void)cls;
  return shim_vulkan_submit(DEVICE, (uint32_t)queue, WORDS, (size_t)count,
                            ERROR);
}

// One line per native method of VulkanShim.java, in the same order.
const JNINativeMethod shim__vulkan_methods[] = {
    SHIM__METHOD("featureName", "(IJI)I", jni_feature_name),
    SHIM__METHOD("kindName", "(IJI)I", jni_kind_name),
    SHIM__METHOD("liveObjects", "(J)V", jni_live_objects),
    SHIM__METHOD("open", "(JIJ)J", jni_open),
    SHIM__METHOD("close", "(J)V", jni_close),
    SHIM__METHOD("flags", "(J)I", jni_flags),
    SHIM__METHOD("version", "(J)I", jni_version),
    SHIM__METHOD("messageCount", "(J)J", jni_message_count),
    SHIM__METHOD("message", "(JJJI)I", jni_message),
    SHIM__METHOD("deviceCount", "(J)I", jni_device_count),
    SHIM__METHOD("deviceQuery", "(JIJJJ)I", jni_device_query),
    SHIM__METHOD("deviceOpen", "(JIJIJJ)J", jni_device_open),
    SHIM__METHOD("deviceRelease", "(J)V", jni_device_release),
    SHIM__METHOD("deviceFeatures", "(J)J", jni_device_features),
    SHIM__METHOD("deviceIsLost", "(J)I", jni_device_is_lost),
    SHIM__METHOD("deviceLiveObjects", "(JJ)V", jni_device_live_objects),
    SHIM__METHOD("memoryCreate", "(JJIIJ)J", jni_memory_create),
    SHIM__METHOD("memoryImportHost", "(JJJJ)J", jni_memory_import_host),
    SHIM__METHOD("memoryImportFd", "(JIJIJ)J", jni_memory_import_fd),
    SHIM__METHOD("memoryQuery", "(JJ)V", jni_memory_query),
    SHIM__METHOD("memoryExport", "(JJJ)I", jni_memory_export),
    SHIM__METHOD("memoryRelease", "(J)V", jni_memory_release),
    SHIM__METHOD("timelineCreate", "(JJIJ)J", jni_timeline_create),
    SHIM__METHOD("timelineRelease", "(J)V", jni_timeline_release),
    SHIM__METHOD("timelineValue", "(JJJ)I", jni_timeline_value),
    SHIM__METHOD("timelineSignal", "(JJJ)I", jni_timeline_signal),
    SHIM__METHOD("timelineExport", "(JJJ)I", jni_timeline_export),
    SHIM__METHOD("timelineImport", "(JIJ)I", jni_timeline_import),
    SHIM__METHOD("waitAny", "(JJIJJ)I", jni_wait_any),
    SHIM__METHOD("pipelineCacheCreate", "(JJJJ)J", jni_cache_create),
    SHIM__METHOD("pipelineCacheRelease", "(J)V", jni_cache_release),
    SHIM__METHOD("pipelineCacheData", "(JJJJJ)I", jni_cache_data),
    SHIM__METHOD("pipelineCreate", "(JJJ)J", jni_pipeline_create),
    SHIM__METHOD("pipelineRelease", "(J)V", jni_pipeline_release),
    SHIM__METHOD("commandsCreate", "(JIJ)J", jni_commands_create),
    SHIM__METHOD("commandsRelease", "(J)V", jni_commands_release),
    SHIM__METHOD("commandsRecord", "(JJJJ)I", jni_commands_record),
    SHIM__METHOD("commandsBind", "(JIJJJ)I", jni_commands_bind),
    SHIM__METHOD("submit", "(JIJJJ)I", jni_submit),
};
const jint shim__vulkan_method_count =
    sizeof(shim__vulkan_methods) / sizeof(shim__vulkan_methods[0]);
