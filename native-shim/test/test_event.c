// Events: counters, descriptors that are not events, and waiting for several.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "shim_internal.h"
#include "test.h"

#if defined(__has_include)
#if __has_include(<linux/sync_file.h>)
#include <linux/sync_file.h>
#include <sys/ioctl.h>
#define HAS_SYNC_FILE 1
#endif
#endif

static int32_t create(void) {
  int32_t fd = -1;
  CHECK_OK(shim_event_create(&fd, &error));
  return fd;
}

static int32_t create_poller(void) {
  int32_t poller = -1;
  CHECK_OK(shim_poller_create(&poller, &error));
  return poller;
}

static uint64_t take(int32_t fd) {
  uint64_t count = 99;
  CHECK_OK(shim_event_take(fd, &count, &error));
  return count;
}

static uint32_t wait_for(int32_t poller, int64_t timeout_ns, uint32_t capacity,
                         shim_completion_t* out) {
  uint32_t count = 99;
  CHECK_OK(shim_poller_wait(poller, timeout_ns, capacity, out, &count, &error));
  return count;
}

static void signals_add_up_until_taken(void) {
  int32_t fd = create();
  CHECK_EQ(take(fd), 0);
  CHECK_OK(shim_event_signal(fd, 1, &error));
  CHECK_OK(shim_event_signal(fd, 2, &error));
  CHECK_EQ(take(fd), 3);
  CHECK_EQ(take(fd), 0);
  shim_event_close(fd);
}

static void a_full_counter_is_signalled_enough(void) {
  int32_t fd = create();
  CHECK_OK(shim_event_signal(fd, UINT64_MAX - 1, &error));
  CHECK_OK(shim_event_signal(fd, 1, &error));
  CHECK_EQ(take(fd), (long long)(UINT64_MAX - 1));
  shim_event_close(fd);
}

static void a_duplicate_is_the_same_event(void) {
  int32_t fd = create();
  int32_t copy = -1;
  CHECK_OK(shim_event_duplicate(fd, &copy, &error));
  CHECK(copy != fd);
  CHECK(fcntl(copy, F_GETFD) & FD_CLOEXEC);
  CHECK_OK(shim_event_signal(fd, 5, &error));
  shim_event_close(fd);
  CHECK_EQ(take(copy), 5);
  shim_event_close(copy);
}

static void descriptors_that_are_no_events_are_refused(void) {
  int32_t copy = 7;
  uint64_t count = 7;
  CHECK_FAILS(shim_event_duplicate(-1, &copy, &error), SHIM_INVALID_ARGUMENT,
              "descriptor -1 is not open");
  CHECK_EQ(copy, 0);
  CHECK_FAILS(shim_event_signal(1 << 20, 1, &error), SHIM_INVALID_ARGUMENT,
              "is not open");
  CHECK_FAILS(shim_event_take(-1, &count, &error), SHIM_INVALID_ARGUMENT,
              "is not open");
  int file = open("/dev/null", O_RDONLY);
  CHECK(file >= 0);
  CHECK_FAILS(shim_event_take(file, &count, &error), SHIM_INVALID_ARGUMENT,
              "is not an eventfd");
  int32_t poller = create_poller();
  CHECK_FAILS(shim_poller_add(poller, -1, 1, &error), SHIM_INVALID_ARGUMENT,
              "is not open");
  CHECK_FAILS(shim_poller_add(poller, poller, 1, &error),
              SHIM_INVALID_ARGUMENT, "cannot be waited for");
  int directory = open("/", O_RDONLY | O_DIRECTORY);
  CHECK_FAILS(shim_poller_add(poller, directory, 1, &error),
              SHIM_INVALID_ARGUMENT, "cannot be waited for");
  close(directory);
  close(file);
  shim_poller_release(poller);
}

static void a_readable_descriptor_is_reported_once(void) {
  int32_t poller = create_poller();
  int32_t fd = create();
  shim_completion_t out[4];
  CHECK_OK(shim_poller_add(poller, fd, 42, &error));
  CHECK_FAILS(shim_poller_add(poller, fd, 43, &error), SHIM_ALREADY_EXISTS,
              "already");
  CHECK_EQ(wait_for(poller, 0, 4, out), 0);
  CHECK_EQ(wait_for(poller, 1000000, 4, out), 0);
  CHECK_OK(shim_event_signal(fd, 1, &error));
  CHECK_EQ(wait_for(poller, -1, 4, out), 1);
  CHECK_EQ(out[0].token, 42);
  CHECK_EQ(out[0].status, SHIM_OK);
  CHECK_EQ(wait_for(poller, 0, 4, out), 0);
  CHECK_EQ(take(fd), 1);
  shim_poller_remove(poller, fd);
  shim_poller_remove(poller, fd);
  CHECK_OK(shim_poller_add(poller, fd, 44, &error));
  shim_poller_remove(poller, fd);
  CHECK_OK(shim_event_signal(fd, 1, &error));
  CHECK_EQ(wait_for(poller, 0, 4, out), 0);
  shim_event_close(fd);
  shim_poller_release(poller);
}

static void a_descriptor_that_is_kept_is_reported_while_it_is_readable(void) {
  int32_t poller = create_poller();
  int32_t fd = create();
  shim_completion_t out;
  CHECK_OK(shim_poller_keep(poller, fd, 5, &error));
  for (int i = 0; i < 3; ++i) {
    CHECK_EQ(wait_for(poller, 0, 1, &out), 0);
    CHECK_OK(shim_event_signal(fd, 1, &error));
    CHECK_EQ(wait_for(poller, -1, 1, &out), 1);
    CHECK_EQ(wait_for(poller, -1, 1, &out), 1);
    CHECK_EQ(out.token, 5);
    CHECK_EQ(take(fd), 1);
  }
  shim_event_close(fd);
  shim_poller_release(poller);
}

static void a_descriptor_that_can_no_longer_be_readable_is_an_error(void) {
  int32_t poller = create_poller();
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  CHECK_OK(shim_poller_add(poller, ends[0], 7, &error));
  close(ends[1]);
  shim_completion_t out;
  CHECK_EQ(wait_for(poller, -1, 1, &out), 1);
  CHECK_EQ(out.token, 7);
  CHECK_EQ(out.status, SHIM_UNAVAILABLE);
  close(ends[0]);
  shim_poller_release(poller);
}

static void a_wait_takes_no_more_than_there_is_room_for(void) {
  int32_t poller = create_poller();
  enum { COUNT = 100 };
  int32_t fds[COUNT];
  uint8_t seen[COUNT] = {0};
  for (uint64_t i = 0; i < COUNT; ++i) {
    fds[i] = create();
    CHECK_OK(shim_poller_add(poller, fds[i], i, &error));
    CHECK_OK(shim_event_signal(fds[i], 1, &error));
  }
  for (int total = 0; total < COUNT;) {
    shim_completion_t out[7];
    uint32_t count = wait_for(poller, -1, 7, out);
    CHECK(count >= 1 && count <= 7);
    for (uint32_t i = 0; i < count; ++i) CHECK_EQ(seen[out[i].token]++, 0);
    total += (int)count;
  }
  shim_completion_t none;
  uint32_t count = 9;
  CHECK_FAILS(shim_poller_wait(poller, 0, 0, &none, &count, &error),
              SHIM_INVALID_ARGUMENT, "no room");
  CHECK_EQ(count, 0);
  for (int i = 0; i < COUNT; ++i) {
    shim_poller_remove(poller, fds[i]);
    shim_event_close(fds[i]);
  }
  shim_poller_release(poller);
}

typedef struct shared_t {
  int32_t poller;
  int32_t fd;
} shared_t;

static void* add_and_signal(void* argument) {
  shared_t* shared = argument;
  CHECK_OK(shim_poller_add(shared->poller, shared->fd, 1, &error));
  CHECK_OK(shim_event_signal(shared->fd, 1, &error));
  return NULL;
}

static void what_is_added_during_a_wait_ends_it(void) {
  shared_t shared = {create_poller(), create()};
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, add_and_signal, &shared), 0);
  shim_completion_t out;
  CHECK_EQ(wait_for(shared.poller, -1, 1, &out), 1);
  pthread_join(thread, NULL);
  shim_event_close(shared.fd);
  shim_poller_release(shared.poller);
}

static int32_t fake_status;
static int fake_errno;

// Emulates a kernel with sync files, which need a GPU.
static int fake_ioctl(int fd, unsigned long request, void* argument) {
  CHECK_EQ(fd, 42);
  CHECK_EQ(request, SHIM__SYNC_FILE_INFO);
  if (fake_errno != 0) {
    errno = fake_errno;
    return -1;
  }
  shim__sync_file_info_t* info = argument;
  CHECK_EQ(info->fence_count, 0);  // a kernel would write that many fences
  info->status = fake_status;
  info->fence_count = 1;
  return 0;
}

static int32_t outcome_of(int error_code, int32_t status) {
  fake_errno = error_code;
  fake_status = status;
  int32_t code = 99;
  CHECK_OK(shim__event_outcome(42, fake_ioctl, &code, &error));
  return code;
}

static void an_error_inside_a_sync_fd_is_no_completion(void) {
  CHECK_EQ(outcome_of(0, 1), 0);
  CHECK_EQ(outcome_of(0, -ETIME), ETIME);
  CHECK_EQ(outcome_of(0, -ECANCELED), ECANCELED);
  CHECK_EQ(outcome_of(ENOTTY, -5), 0);
  CHECK_EQ(outcome_of(EINVAL, -5), 0);
}

static void what_is_no_sync_fd_cannot_say_how_it_ended(void) {
  int32_t fd = create();
  int32_t code = 9;
  CHECK_OK(shim_event_outcome(fd, &code, &error));
  CHECK_EQ(code, 0);
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  CHECK_OK(shim_event_outcome(ends[0], &code, &error));
  CHECK_EQ(code, 0);
  close(ends[0]);
  close(ends[1]);
  shim_event_close(fd);
  CHECK_FAILS(shim_event_outcome(-1, &code, &error), SHIM_INVALID_ARGUMENT,
              "not open");
}

static void our_sync_file_is_that_of_the_kernel(void) {
#if HAS_SYNC_FILE
  CHECK_EQ(SHIM__SYNC_FILE_INFO, SYNC_IOC_FILE_INFO);
  CHECK_EQ(sizeof(shim__sync_file_info_t), sizeof(struct sync_file_info));
  CHECK_EQ(offsetof(shim__sync_file_info_t, status),
           offsetof(struct sync_file_info, status));
  CHECK_EQ(offsetof(shim__sync_file_info_t, fence_count),
           offsetof(struct sync_file_info, num_fences));
#else
  fprintf(stderr, "no <linux/sync_file.h>\n");
#endif
}

int main(void) {
  RUN(signals_add_up_until_taken);
  RUN(a_full_counter_is_signalled_enough);
  RUN(a_duplicate_is_the_same_event);
  RUN(descriptors_that_are_no_events_are_refused);
  RUN(a_readable_descriptor_is_reported_once);
  RUN(a_descriptor_that_is_kept_is_reported_while_it_is_readable);
  RUN(a_descriptor_that_can_no_longer_be_readable_is_an_error);
  RUN(a_wait_takes_no_more_than_there_is_room_for);
  RUN(an_error_inside_a_sync_fd_is_no_completion);
  RUN(what_is_no_sync_fd_cannot_say_how_it_ended);
  RUN(our_sync_file_is_that_of_the_kernel);
  RUN(what_is_added_during_a_wait_ends_it);
  return 0;
}
