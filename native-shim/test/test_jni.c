// The glue on a fake JVM, which refuses each request of JNI_OnLoad in turn and
// permits no other JNI function. Objects created by the glue are 0 when memory
// runs out, with the cause in the error. Omitted without JDK headers.
#include "failing.h"
#include "test.h"

#if defined(SHIM_JNI_HEADERS)
#include "jni/jni_shim.h"

extern jint JNI_OnLoad(JavaVM* vm, void* reserved);
extern void JNI_OnUnload(JavaVM* vm, void* reserved);

enum { SLOTS = sizeof(struct JNINativeInterface_) / sizeof(void*) };

static struct JNINativeInterface_ functions;
static JNIEnv env = &functions;
static int calls, failing_call, classes, registered;
static jboolean pending;

static void forbidden(void) {
  fprintf(stderr, "the glue calls a function of JNI that it should not\n");
  exit(1);
}

static bool fails(void) {
  CHECK(!pending);
  return ++calls == failing_call;
}

static jclass JNICALL find_class(JNIEnv* e, const char* name) {
  CHECK(e == &env && strncmp(name, "io/github/iree4j/nativeaccess/", 30) == 0);
  pending = fails();
  classes += !pending;
  return pending ? NULL : (jclass)&classes;
}

static jint JNICALL register_natives(JNIEnv* e, jclass cls,
                                     const JNINativeMethod* methods,
                                     jint count) {
  CHECK(e == &env && cls == (jclass)&classes);
  for (jint i = 0; i < count; ++i) {
    CHECK(methods[i].name && methods[i].signature && methods[i].fnPtr);
  }
  pending = fails();
  registered += pending ? 0 : count;
  return pending ? JNI_ERR : JNI_OK;
}

// The only function that may be called with an exception pending.
static void JNICALL delete_local_ref(JNIEnv* e, jobject object) {
  CHECK(e == &env && object == (jobject)&classes);
  --classes;
}

static jint JNICALL get_env(JavaVM* vm, void** out, jint version) {
  (void)vm;
  CHECK_EQ(version, JNI_VERSION_10);
  if (fails()) return JNI_EVERSION;
  *out = &env;
  return JNI_OK;
}

static const struct JNIInvokeInterface_ invocation = {.GetEnv = get_env};
static JavaVM vm = &invocation;

static void prepare(void) {
  void* slots[SLOTS];
  for (int i = 0; i < SLOTS; ++i) slots[i] = (void*)(uintptr_t)forbidden;
  memcpy(&functions, slots, sizeof(functions));
  functions.FindClass = find_class;
  functions.RegisterNatives = register_natives;
  functions.DeleteLocalRef = delete_local_ref;
}

static void loading_fails_where_the_jvm_refuses_and_keeps_nothing(void) {
  jint all = 0;
  int tables = 0;
  for (const shim__method_table_t* table = shim__method_tables; table->methods;
       ++table) {
    if (table->is_of_driver) continue;
    all += *table->count;
    ++tables;
  }
  for (failing_call = 1;; ++failing_call) {
    calls = registered = 0;
    pending = JNI_FALSE;
    const jint version = JNI_OnLoad(&vm, NULL);
    CHECK_EQ(classes, 0);
    if (calls < failing_call) {
      CHECK_EQ(version, JNI_VERSION_10);
      CHECK_EQ(registered, all);
      break;
    }
    CHECK_EQ(calls, failing_call);  // no request after that
    CHECK_EQ(version, JNI_ERR);
    CHECK_EQ(pending, failing_call > 1);
  }
  CHECK_EQ(failing_call, 2 * tables + 2);
  JNI_OnUnload(&vm, NULL);
}

static void* function_of(const char* class_name, const char* name);

static void methods_of_drivers_are_bound_by_the_name_of_their_class(void) {
  jint (*bind)(JNIEnv*, jclass, jlong, jclass) = function_of("Shim", "bind");
  int drivers = 0;
  for (const shim__method_table_t* table = shim__method_tables; table->methods;
       ++table) {
    if (!table->is_of_driver) continue;
    ++drivers;
    for (failing_call = 0; failing_call < 2; ++failing_call) {
      calls = registered = 0;
      pending = JNI_FALSE;
      const jint bound = bind(&env, NULL, (jlong)(uintptr_t)table->class_name,
                              (jclass)&classes);
      CHECK_EQ(bound, failing_call == 0);
      CHECK_EQ(registered, failing_call == 0 ? *table->count : 0);
      CHECK_EQ(pending, failing_call == 1);
    }
  }
  CHECK_EQ(drivers, 2);
  pending = JNI_FALSE;
  CHECK_EQ(bind(&env, NULL, (jlong)(uintptr_t) "io/github/iree4j/Other",
                (jclass)&classes),
           0);
}

// Classes have methods of the same name.
static void* function_of(const char* class_name, const char* name) {
  for (const shim__method_table_t* table = shim__method_tables; table->methods;
       ++table) {
    if (strcmp(strrchr(table->class_name, '/') + 1, class_name) != 0) continue;
    for (jint i = 0; i < *table->count; ++i) {
      if (strcmp(table->methods[i].name, name) == 0) {
        return table->methods[i].fnPtr;
      }
    }
  }
  fprintf(stderr, "%s has no native method %s\n", class_name, name);
  exit(1);
}

static jlong address(const void* pointer) { return (jlong)(uintptr_t)pointer; }

// The status of a creating call, from the error struct.
static shim_status_t made(jlong object) {
  CHECK_EQ(object == 0, failing_error->status != SHIM_OK);
  return failing_error->status;
}

static shim_status_t an_event_is_created(void) {
  jint (*create)(JNIEnv*, jclass, jlong, jlong) =
      function_of("Shim", "eventCreate");
  void (*release)(JNIEnv*, jclass, jint) = function_of("Shim", "eventClose");
  int32_t fd = 7;
  jint status =
      FAILING(create(&env, NULL, address(&fd), address(failing_error)));
  CHECK_EQ(fd == 0, status != SHIM_OK);
  if (fd) release(&env, NULL, fd);
  return status;
}

static file_t kernel;

static shim_status_t an_executable_is_created(void) {
  jlong (*create)(JNIEnv*, jclass, jlong, jint, jlong, jlong, jlong, jint,
                  jint, jlong) = function_of("Shim", "executableCreate");
  void (*release)(JNIEnv*, jclass, jlong) =
      function_of("Shim", "executableRelease");
  const uint32_t constant = 77;
  jlong executable = 7;
  FAILING_VOID(executable = create(&env, NULL, address("basic"), 5,
                                   address(kernel.bytes), (jlong)kernel.size,
                                   address(&constant), 1, 0,
                                   address(failing_error)));
  release(&env, NULL, executable);
  return made(executable);
}

static shim_status_t a_vulkan_library_is_opened(void) {
  jlong (*open)(JNIEnv*, jclass, jlong, jint, jlong) =
      function_of("VulkanShim", "open");
  void (*release)(JNIEnv*, jclass, jlong) = function_of("VulkanShim", "close");
  jlong api = 7;
  FAILING_VOID(api = open(&env, NULL, address(FAKE_VULKAN_LIBRARY), 1,
                          address(failing_error)));
  release(&env, NULL, api);
  return made(api);
}

static shim_status_t a_gpu_library_is_opened(jint kind, const char* library) {
  jlong (*open)(JNIEnv*, jclass, jint, jlong, jlong) =
      function_of("GpuShim", "open");
  void (*release)(JNIEnv*, jclass, jlong) = function_of("GpuShim", "close");
  jlong api = 7;
  FAILING_VOID(api = open(&env, NULL, kind, address(library),
                          address(failing_error)));
  release(&env, NULL, api);
  return made(api);
}

static shim_status_t a_cuda_library_is_opened(void) {
  return a_gpu_library_is_opened(SHIM_GPU_CUDA, FAKE_CUDA_LIBRARY);
}

static shim_status_t a_hip_library_is_opened(void) {
  return a_gpu_library_is_opened(SHIM_GPU_HIP, FAKE_HIP_LIBRARY);
}

int main(void) {
  prepare();
  kernel = read_kernel("optional_import");
  RUN(loading_fails_where_the_jvm_refuses_and_keeps_nothing);
  RUN(methods_of_drivers_are_bound_by_the_name_of_their_class);
  FAILING_EACH(an_event_is_created);
  FAILING_EACH(an_executable_is_created);
  FAILING_EACH(a_vulkan_library_is_opened);
  FAILING_EACH(a_cuda_library_is_opened);
  FAILING_EACH(a_hip_library_is_opened);
  free(kernel.bytes);
  return 0;
}
#else
int main(void) {
  fprintf(stderr, "skipped: no <jni.h> (a JDK)\n");
  return 0;
}
#endif
