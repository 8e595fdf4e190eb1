// JNI glue for CUDA and HIP: argument conversion and nothing else.
#include "jni_shim.h"
#include "shim_gpu.h"

#define ERROR HANDLE(shim_error_t, error)
#define API HANDLE(shim_gpu_api_t, api)
#define DEVICE HANDLE(shim_gpu_device_t, device)
#define OUT HANDLE(uint64_t, out)

static jint jni_kind_name(JNIEnv* env, jclass cls, jint kind, jlong out,
                          jint capacity) {
  (void)env, (void)cls;
  const char* name = shim_gpu_kind_name(kind);
  return name ? shim__copy_text(name, out, capacity) : 0;
}

static jlong jni_open(JNIEnv* env, jclass cls, jint kind, jlong name,
                      jlong error) {
  (void)env, (void)cls;
  shim_gpu_api_t* api = NULL;
  shim_gpu_open(kind, HANDLE(const char, name), &api, ERROR);
  return (jlong)(uintptr_t)api;
}

static void jni_close(JNIEnv* env, jclass cls, jlong api) {
  (void)env, (void)cls;
  shim_gpu_close(API);
}

static jint jni_version(JNIEnv* env, jclass cls, jlong api) {
  (void)env, (void)cls;
  return shim_gpu_version(API);
}

static jint jni_device_count(JNIEnv* env, jclass cls, jlong api) {
  (void)env, (void)cls;
  return (jint)shim_gpu_device_count(API);
}

static jint jni_device_query(JNIEnv* env, jclass cls, jlong api, jint index,
                             jlong out, jlong size, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_device_query(API, (uint32_t)index, HANDLE(void, out),
                               (size_t)size, ERROR);
}

static jlong jni_device_open(JNIEnv* env, jclass cls, jlong api, jint index,
                             jlong error) {
  (void)env, (void)cls;
  shim_gpu_device_t* device = NULL;
  shim_gpu_device_open(API, (uint32_t)index, &device, ERROR);
  return (jlong)(uintptr_t)device;
}

static void jni_device_release(JNIEnv* env, jclass cls, jlong device) {
  (void)env, (void)cls;
  shim_gpu_device_release(DEVICE);
}

static jint jni_device_is_lost(JNIEnv* env, jclass cls, jlong device) {
  (void)env, (void)cls;
  return shim_gpu_device_is_lost(DEVICE);
}

static jint jni_device_reach(JNIEnv* env, jclass cls, jlong device, jlong other,
                             jlong error) {
  (void)env, (void)cls;
  return shim_gpu_device_reach(DEVICE, HANDLE(shim_gpu_device_t, other), ERROR);
}

static void jni_device_live_objects(JNIEnv* env, jclass cls, jlong device,
                                    jlong out) {
  (void)env, (void)cls;
  shim_gpu_device_live_objects(DEVICE, HANDLE(int64_t, out));
}

static jint jni_memory_allocate(JNIEnv* env, jclass cls, jlong device,
                                jlong size, jint managed, jlong out,
                                jlong error) {
  (void)env, (void)cls;
  return shim_gpu_memory_allocate(DEVICE, (uint64_t)size, managed, OUT, ERROR);
}

static jint jni_memory_free(JNIEnv* env, jclass cls, jlong device,
                            jlong address, jint managed, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_memory_free(DEVICE, (uint64_t)address, managed, ERROR);
}

static jint jni_memory_available(JNIEnv* env, jclass cls, jlong device,
                                 jlong out, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_memory_available(DEVICE, OUT, ERROR);
}

static jint jni_memory_check(JNIEnv* env, jclass cls, jlong device,
                             jlong address, jlong size, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_memory_check(DEVICE, (uint64_t)address, (uint64_t)size,
                               ERROR);
}

static jint jni_host_allocate(JNIEnv* env, jclass cls, jlong device, jlong size,
                              jlong out, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_host_allocate(DEVICE, (uint64_t)size, OUT, ERROR);
}

static void jni_host_free(JNIEnv* env, jclass cls, jlong device, jlong host) {
  (void)env, (void)cls;
  shim_gpu_host_free(DEVICE, (uint64_t)host);
}

static jint jni_host_register(JNIEnv* env, jclass cls, jlong device, jlong host,
                              jlong size, jint read_only, jlong out,
                              jlong error) {
  (void)env, (void)cls;
  return shim_gpu_host_register(DEVICE, HANDLE(void, host), (uint64_t)size,
                                read_only, OUT, ERROR);
}

static void jni_host_unregister(JNIEnv* env, jclass cls, jlong device,
                                jlong host) {
  (void)env, (void)cls;
  shim_gpu_host_unregister(DEVICE, HANDLE(void, host));
}

static jint jni_module_load(JNIEnv* env, jclass cls, jlong device, jlong image,
                            jlong log, jlong log_size, jlong out, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_module_load(DEVICE, HANDLE(const void, image),
                              HANDLE(char, log), (size_t)log_size, OUT, ERROR);
}

static jint jni_link(JNIEnv* env, jclass cls, jlong device, jlong text,
                     jlong size, jlong out, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_link(DEVICE, HANDLE(void, text), (size_t)size, OUT, ERROR);
}

static void jni_link_release(JNIEnv* env, jclass cls, jlong device,
                             jlong link) {
  (void)env, (void)cls;
  shim_gpu_link_release(DEVICE, (uint64_t)link);
}

static void jni_module_unload(JNIEnv* env, jclass cls, jlong device,
                              jlong module) {
  (void)env, (void)cls;
  shim_gpu_module_unload(DEVICE, (uint64_t)module);
}

static jint jni_module_function(JNIEnv* env, jclass cls, jlong device,
                                jlong module, jlong name, jint shared,
                                jlong out, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_module_function(DEVICE, (uint64_t)module,
                                  HANDLE(const char, name), (uint32_t)shared,
                                  HANDLE(shim_gpu_function_t, out), ERROR);
}

static jint jni_stream_create(JNIEnv* env, jclass cls, jlong device, jlong out,
                              jlong error) {
  (void)env, (void)cls;
  return shim_gpu_stream_create(DEVICE, OUT, ERROR);
}

static void jni_stream_release(JNIEnv* env, jclass cls, jlong device,
                               jlong stream) {
  (void)env, (void)cls;
  shim_gpu_stream_release(DEVICE, (uint64_t)stream);
}

static jint jni_event_create(JNIEnv* env, jclass cls, jlong device, jlong out,
                             jlong error) {
  (void)env, (void)cls;
  return shim_gpu_event_create(DEVICE, OUT, ERROR);
}

static void jni_event_release(JNIEnv* env, jclass cls, jlong device,
                              jlong event) {
  (void)env, (void)cls;
  shim_gpu_event_release(DEVICE, (uint64_t)event);
}

static jint jni_event_wait(JNIEnv* env, jclass cls, jlong device, jlong event,
                           jlong spin, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_event_wait(DEVICE, (uint64_t)event, spin, ERROR);
}

static jint jni_event_query(JNIEnv* env, jclass cls, jlong device, jlong event,
                            jlong out, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_event_query(DEVICE, (uint64_t)event, HANDLE(int32_t, out),
                              ERROR);
}

static jint jni_run(JNIEnv* env, jclass cls, jlong device, jlong stream,
                    jlong words, jlong count, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_run(DEVICE, (uint64_t)stream, HANDLE(const uint64_t, words),
                      (size_t)count, ERROR);
}

static jint jni_graph_make(JNIEnv* env, jclass cls, jlong device,
                           jlong branches, jlong branch_count, jlong words,
                           jlong count, jlong graph, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_graph_make(DEVICE, HANDLE(const shim_gpu_branch_t, branches),
                             (size_t)branch_count,
                             HANDLE(const uint64_t, words), (size_t)count,
                             HANDLE(uint64_t, graph), ERROR);
}

static void jni_graph_release(JNIEnv* env, jclass cls, jlong device,
                              jlong graph) {
  (void)env, (void)cls;
  shim_gpu_graph_release(DEVICE, (uint64_t)graph);
}

//===--------------------------------------------------------------------===//
// Collectives
//===--------------------------------------------------------------------===//

#define LIBRARY HANDLE(shim_gpu_collectives_t, library)
#define COMM ((uint64_t)comm)

static jlong jni_comm_open(JNIEnv* env, jclass cls, jint kind, jlong name,
                           jlong error) {
  (void)env, (void)cls;
  shim_gpu_collectives_t* library = NULL;
  shim_gpu_collectives_open(kind, HANDLE(const char, name), &library, ERROR);
  return (jlong)(uintptr_t)library;
}

static jint jni_comm_unique_id(JNIEnv* env, jclass cls, jlong library,
                               jlong out, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_unique_id(LIBRARY, HANDLE(char, out), ERROR);
}

static jint jni_comm_join(JNIEnv* env, jclass cls, jlong library, jlong device,
                          jlong id, jint rank, jint count, jlong out,
                          jlong error) {
  (void)env, (void)cls;
  return shim_gpu_comm_join(LIBRARY, DEVICE, HANDLE(const char, id), rank,
                            count, OUT, ERROR);
}

static jint jni_comm_state(JNIEnv* env, jclass cls, jlong library, jlong device,
                           jlong comm, jlong out, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_comm_state(LIBRARY, DEVICE, COMM, HANDLE(int32_t, out),
                             ERROR);
}

static jint jni_comm_finalize(JNIEnv* env, jclass cls, jlong library,
                              jlong device, jlong comm, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_comm_finalize(LIBRARY, DEVICE, COMM, ERROR);
}

static void jni_comm_end(JNIEnv* env, jclass cls, jlong library, jlong device,
                         jlong comm, jint aborts) {
  (void)env, (void)cls;
  shim_gpu_comm_end(LIBRARY, DEVICE, COMM, aborts);
}

static jint jni_comm_run(JNIEnv* env, jclass cls, jlong library, jlong calls,
                         jlong count, jlong error) {
  (void)env, (void)cls;
  return shim_gpu_collectives_run(LIBRARY,
                                  HANDLE(const shim_gpu_collective_t, calls),
                                  (size_t)count, ERROR);
}

const JNINativeMethod shim__gpu_methods[] = {
    SHIM__METHOD("kindName", "(IJI)I", jni_kind_name),
    SHIM__METHOD("open", "(IJJ)J", jni_open),
    SHIM__METHOD("close", "(J)V", jni_close),
    SHIM__METHOD("version", "(J)I", jni_version),
    SHIM__METHOD("deviceCount", "(J)I", jni_device_count),
    SHIM__METHOD("deviceQuery", "(JIJJJ)I", jni_device_query),
    SHIM__METHOD("deviceOpen", "(JIJ)J", jni_device_open),
    SHIM__METHOD("deviceRelease", "(J)V", jni_device_release),
    SHIM__METHOD("deviceIsLost", "(J)I", jni_device_is_lost),
    SHIM__METHOD("deviceReach", "(JJJ)I", jni_device_reach),
    SHIM__METHOD("deviceLiveObjects", "(JJ)V", jni_device_live_objects),
    SHIM__METHOD("memoryAllocate", "(JJIJJ)I", jni_memory_allocate),
    SHIM__METHOD("memoryFree", "(JJIJ)I", jni_memory_free),
    SHIM__METHOD("memoryAvailable", "(JJJ)I", jni_memory_available),
    SHIM__METHOD("memoryCheck", "(JJJJ)I", jni_memory_check),
    SHIM__METHOD("hostAllocate", "(JJJJ)I", jni_host_allocate),
    SHIM__METHOD("hostFree", "(JJ)V", jni_host_free),
    SHIM__METHOD("hostRegister", "(JJJIJJ)I", jni_host_register),
    SHIM__METHOD("hostUnregister", "(JJ)V", jni_host_unregister),
    SHIM__METHOD("moduleLoad", "(JJJJJJ)I", jni_module_load),
    SHIM__METHOD("link", "(JJJJJ)I", jni_link),
    SHIM__METHOD("linkRelease", "(JJ)V", jni_link_release),
    SHIM__METHOD("moduleUnload", "(JJ)V", jni_module_unload),
    SHIM__METHOD("moduleFunction", "(JJJIJJ)I", jni_module_function),
    SHIM__METHOD("streamCreate", "(JJJ)I", jni_stream_create),
    SHIM__METHOD("streamRelease", "(JJ)V", jni_stream_release),
    SHIM__METHOD("eventCreate", "(JJJ)I", jni_event_create),
    SHIM__METHOD("eventRelease", "(JJ)V", jni_event_release),
    SHIM__METHOD("eventWait", "(JJJJ)I", jni_event_wait),
    SHIM__METHOD("eventQuery", "(JJJJ)I", jni_event_query),
    SHIM__METHOD("run", "(JJJJJ)I", jni_run),
    SHIM__METHOD("graphMake", "(JJJJJJJ)I", jni_graph_make),
    SHIM__METHOD("graphRelease", "(JJ)V", jni_graph_release),
    SHIM__METHOD("commOpen", "(IJJ)J", jni_comm_open),
    SHIM__METHOD("commUniqueId", "(JJJ)I", jni_comm_unique_id),
    SHIM__METHOD("commJoin", "(JJJIIJJ)I", jni_comm_join),
    SHIM__METHOD("commState", "(JJJJJ)I", jni_comm_state),
    SHIM__METHOD("commFinalize", "(JJJJ)I", jni_comm_finalize),
    SHIM__METHOD("commEnd", "(JJJI)V", jni_comm_end),
    SHIM__METHOD("commRun", "(JJJJ)I", jni_comm_run),
};
const jint shim__gpu_method_count =
    sizeof(shim__gpu_methods) / sizeof(shim__gpu_methods[0]);
