// Transfers through io_uring, with a real kernel; reported as skipped where
// that is not permitted. Checks our declarations against the kernel's.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim_file.h"
#include "shim_uring.h"
#include "test.h"

#if defined(__has_include)
#if __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#define HAS_HEADER 1
#endif
#if __has_include(<linux/seccomp.h>) && __has_include(<linux/filter.h>)
#include <linux/filter.h>
#include <linux/seccomp.h>
#define HAS_SECCOMP 1
#endif
#endif

static char path[] = "/tmp/iree4j-test-file-XXXXXX";

static int32_t open_file(uint32_t access) {
  int32_t fd = -1;
  CHECK_OK(shim_file_open(path, strlen(path), access, &fd, &error));
  return fd;
}

static shim_file_ring_t* create(uint32_t entries) {
  shim_file_ring_t* ring = NULL;
  CHECK_OK(shim_file_ring_create(entries, &ring, &error));
  return ring;
}

static void submit(shim_file_ring_t* ring, shim_file_operation_t operation) {
  uint32_t count = 99;
  CHECK_OK(shim_file_ring_submit(ring, &operation, 1, &count, &error));
  CHECK_EQ(count, 1);
}

static shim_completion_t next(shim_file_ring_t* ring) {
  shim_completion_t completion;
  while (shim_file_ring_poll(ring, 1, &completion) == 0) {
    struct pollfd descriptor = {.fd = shim_file_ring_fd(ring),
                                .events = POLLIN};
    CHECK(poll(&descriptor, 1, 30000) >= 0);
  }
  return completion;
}

static shim_file_operation_t read_at(int32_t fd, uint64_t token, void* target,
                                     uint64_t offset, uint32_t length) {
  return (shim_file_operation_t){.token = token,
                                 .address = (uint64_t)(uintptr_t)target,
                                 .offset = offset,
                                 .length = length,
                                 .fd = fd,
                                 .kind = SHIM_FILE_OPERATION_READ};
}

static shim_file_operation_t write_at(int32_t fd, uint64_t token, void* source,
                                      uint64_t offset, uint32_t length) {
  shim_file_operation_t operation =
      read_at(fd, token, source, offset, length);
  operation.kind = SHIM_FILE_OPERATION_WRITE;
  return operation;
}

static void what_is_written_is_read(void) {
  shim_file_ring_t* ring = create(4);
  int32_t fd = open_file(SHIM_FILE_READ | SHIM_FILE_WRITE);
  char source[5000];
  char target[6000];
  for (size_t i = 0; i < sizeof(source); ++i) source[i] = (char)(i * 7);
  submit(ring, write_at(fd, 1, source, 100, sizeof(source)));
  shim_completion_t done = next(ring);
  CHECK_EQ(done.token, 1);
  CHECK_EQ(done.status, SHIM_OK);
  CHECK_EQ(done.native_code, sizeof(source));
  int64_t length = 0;
  CHECK_OK(shim_file_length(fd, &length, &error));
  CHECK_EQ(length, 5100);
  shim_file_operation_t punted = read_at(fd, 2, target, 100, sizeof(target));
  punted.flags = SHIM_FILE_OPERATION_PUNT;
  submit(ring, punted);
  done = next(ring);
  CHECK_EQ(done.token, 2);
  CHECK_EQ(done.native_code, 5000);
  CHECK_EQ(memcmp(source, target, sizeof(source)), 0);
  submit(ring, read_at(fd, 3, target, 5100, 10));
  done = next(ring);
  CHECK_EQ(done.status, SHIM_OK);
  CHECK_EQ(done.native_code, 0);
  shim_event_close(fd);
  shim_file_ring_release(ring);
}

static void errors_are_those_of_the_system(void) {
  shim_file_ring_t* ring = create(4);
  char bytes[8] = {0};
  submit(ring, read_at(1 << 20, 7, bytes, 0, 8));
  shim_completion_t done = next(ring);
  CHECK_EQ(done.token, 7);
  CHECK_EQ(done.status, SHIM_INVALID_ARGUMENT);
  CHECK_EQ(done.native_code, EBADF);
  int32_t fd = open_file(SHIM_FILE_READ);
  submit(ring, write_at(fd, 8, bytes, 0, 8));
  CHECK_EQ(next(ring).status, SHIM_INVALID_ARGUMENT);
  submit(ring, read_at(fd, 9, (void*)8, 0, 8));
  done = next(ring);
  CHECK_EQ(done.status, SHIM_INVALID_ARGUMENT);
  CHECK_EQ(done.native_code, EFAULT);
  uint32_t count = 9;
  shim_file_operation_t bad = read_at(fd, 1, bytes, 0, 0x80000000u);
  CHECK_FAILS(shim_file_ring_submit(ring, &bad, 1, &count, &error),
              SHIM_INVALID_ARGUMENT, "operation 0");
  bad = read_at(fd, 1, bytes, 0, 8);
  bad.kind = 77;
  CHECK_FAILS(shim_file_ring_submit(ring, &bad, 1, &count, &error),
              SHIM_INVALID_ARGUMENT, "kind 77");
  CHECK_EQ(count, 0);
  shim_event_close(fd);
  shim_file_ring_release(ring);
}

static void a_read_that_waits_is_cancelled(void) {
  shim_file_ring_t* ring = create(4);
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  char byte = 0;
  submit(ring, read_at(ends[0], 5, &byte, UINT64_MAX, 1));
  submit(ring, (shim_file_operation_t){.token = 6,
                                       .address = 5,
                                       .kind = SHIM_FILE_OPERATION_CANCEL});
  shim_completion_t done = next(ring);
  CHECK_EQ(done.token, 5);
  CHECK_EQ(done.status, SHIM_CANCELLED);
  CHECK_EQ(shim_file_ring_poll(ring, 1, &done), 0);
  close(ends[0]);
  close(ends[1]);
  shim_file_ring_release(ring);
}

static void more_than_the_ring_holds_goes_round(void) {
  enum { ENTRIES = 8, COUNT = 1000 };
  shim_file_ring_t* ring = create(ENTRIES);
  int32_t fd = open_file(SHIM_FILE_READ | SHIM_FILE_WRITE);
  static uint64_t values[COUNT];
  static uint8_t seen[COUNT];
  for (uint64_t i = 0; i < COUNT; ++i) values[i] = i * i;
  CHECK_EQ(pwrite(fd, values, sizeof(values), 0), (long long)sizeof(values));
  memset(values, 0, sizeof(values));
  uint64_t submitted = 0;
  uint64_t ended = 0;
  while (ended < COUNT) {
    shim_file_operation_t batch[ENTRIES];
    uint32_t count = 0;
    while (submitted + count < COUNT && submitted + count - ended < ENTRIES) {
      uint64_t i = submitted + count;
      batch[count++] = read_at(fd, i, &values[i], i * 8, 8);
    }
    uint32_t taken = 0;
    CHECK_OK(shim_file_ring_submit(ring, batch, count, &taken, &error));
    submitted += taken;
    shim_completion_t done[5];
    uint32_t polled = shim_file_ring_poll(ring, 5, done);
    for (uint32_t i = 0; i < polled; ++i) {
      CHECK_EQ(done[i].native_code, 8);
      CHECK_EQ(seen[done[i].token]++, 0);
    }
    ended += polled;
  }
  for (uint64_t i = 0; i < COUNT; ++i) CHECK_EQ(values[i], i * i);
  shim_event_close(fd);
  shim_file_ring_release(ring);
}

static void completions_that_find_the_ring_full_are_not_lost(void) {
  shim_file_ring_t* ring = create(2);
  int32_t fd = open_file(SHIM_FILE_READ | SHIM_FILE_WRITE);
  char bytes[8] = {0};
  for (uint64_t i = 1; i <= 20; ++i) {
    submit(ring, (shim_file_operation_t){.token = 6,
                                         .address = 1000,
                                         .kind = SHIM_FILE_OPERATION_CANCEL});
    submit(ring, write_at(fd, i, bytes, 0, 8));
  }
  uint32_t seen = 0;
  for (int i = 0; i < 20; ++i) seen |= 1u << next(ring).token;
  CHECK_EQ(seen, 0x1FFFFE);
  shim_event_close(fd);
  shim_file_ring_release(ring);
}

static void sizes_that_are_no_power_of_two_are_refused(void) {
  shim_file_ring_t* ring = NULL;
  CHECK_FAILS(shim_file_ring_create(0, &ring, &error), SHIM_INVALID_ARGUMENT,
              "0 entries");
  CHECK_FAILS(shim_file_ring_create(12, &ring, &error), SHIM_INVALID_ARGUMENT,
              "12 entries");
  CHECK_FAILS(shim_file_ring_create(8192, &ring, &error),
              SHIM_INVALID_ARGUMENT, "8192 entries");
  CHECK(!ring);
  shim_file_ring_release(NULL);
}

static void a_kernel_that_forbids_it_is_named(void) {
#if HAS_SECCOMP
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SHIM__URING_SETUP, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = 4, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
      fprintf(stderr, "seccomp is not available here\n");
      _exit(0);
    }
    shim_file_ring_t* ring = NULL;
    CHECK_FAILS(shim_file_ring_create(8, &ring, &error), SHIM_UNAVAILABLE,
                "does not permit io_uring");
    _exit(0);
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
#else
  fprintf(stderr, "no <linux/seccomp.h>\n");
#endif
}

static void our_declarations_are_those_of_the_kernel(void) {
#if HAS_HEADER
  CHECK_EQ(sizeof(shim__uring_params_t), sizeof(struct io_uring_params));
  CHECK_EQ(offsetof(shim__uring_params_t, features),
           offsetof(struct io_uring_params, features));
  CHECK_EQ(offsetof(shim__uring_params_t, sq),
           offsetof(struct io_uring_params, sq_off));
  CHECK_EQ(offsetof(shim__uring_params_t, cq),
           offsetof(struct io_uring_params, cq_off));
  CHECK_EQ(offsetof(shim__uring_sq_offsets_t, array),
           offsetof(struct io_sqring_offsets, array));
  CHECK_EQ(offsetof(shim__uring_cq_offsets_t, cqes),
           offsetof(struct io_cqring_offsets, cqes));
  CHECK_EQ(sizeof(shim__uring_entry_t), sizeof(struct io_uring_sqe));
  CHECK_EQ(offsetof(shim__uring_entry_t, offset),
           offsetof(struct io_uring_sqe, off));
  CHECK_EQ(offsetof(shim__uring_entry_t, address),
           offsetof(struct io_uring_sqe, addr));
  CHECK_EQ(offsetof(shim__uring_entry_t, length),
           offsetof(struct io_uring_sqe, len));
  CHECK_EQ(offsetof(shim__uring_entry_t, user_data),
           offsetof(struct io_uring_sqe, user_data));
  CHECK_EQ(sizeof(shim__uring_completion_t), sizeof(struct io_uring_cqe));
  CHECK_EQ(sizeof(shim__uring_probe_op_t), sizeof(struct io_uring_probe_op));
  CHECK_EQ(offsetof(shim__uring_probe_t, ops),
           offsetof(struct io_uring_probe, ops));
  CHECK_EQ(SHIM__URING_OP_ASYNC_CANCEL, IORING_OP_ASYNC_CANCEL);
  CHECK_EQ(SHIM__URING_OP_READ, IORING_OP_READ);
  CHECK_EQ(SHIM__URING_OP_WRITE, IORING_OP_WRITE);
  CHECK_EQ(SHIM__URING_FEATURE_SINGLE_MMAP, IORING_FEAT_SINGLE_MMAP);
  CHECK_EQ(SHIM__URING_FEATURE_NO_DROP, IORING_FEAT_NODROP);
  CHECK_EQ(SHIM__URING_ENTER_GETEVENTS, IORING_ENTER_GETEVENTS);
#ifdef IORING_SQ_CQ_OVERFLOW
  CHECK_EQ(SHIM__URING_CQ_OVERFLOW, IORING_SQ_CQ_OVERFLOW);
#endif
  CHECK_EQ(SHIM__URING_ENTRY_ASYNC, IOSQE_ASYNC);
  CHECK_EQ(SHIM__URING_REGISTER_PROBE, IORING_REGISTER_PROBE);
  CHECK_EQ(SHIM__URING_PROBE_SUPPORTED, IO_URING_OP_SUPPORTED);
  CHECK_EQ(SHIM__URING_OFFSET_ENTRIES, (long long)IORING_OFF_SQES);
#ifdef SYS_io_uring_setup
  CHECK_EQ(SHIM__URING_SETUP, SYS_io_uring_setup);
  CHECK_EQ(SHIM__URING_ENTER, SYS_io_uring_enter);
  CHECK_EQ(SHIM__URING_REGISTER, SYS_io_uring_register);
#endif
#else
  fprintf(stderr, "no <linux/io_uring.h>\n");
#endif
}

static void what_is_no_file_is_refused(void) {
  int32_t fd = 9;
  CHECK_FAILS(shim_file_open("/nowhere/at/all", 15, SHIM_FILE_READ, &fd,
                             &error),
              SHIM_NOT_FOUND, "errno");
  CHECK_FAILS(shim_file_open("/tmp", 4, SHIM_FILE_READ, &fd, &error),
              SHIM_INVALID_ARGUMENT, "not a regular file");
  CHECK_FAILS(shim_file_open("/dev/null", 9, SHIM_FILE_READ, &fd, &error),
              SHIM_INVALID_ARGUMENT, "not a regular file");
  CHECK_FAILS(shim_file_open("a\0b", 3, SHIM_FILE_READ, &fd, &error),
              SHIM_INVALID_ARGUMENT, "path of 3 bytes");
  CHECK_FAILS(shim_file_open("", 0, SHIM_FILE_READ, &fd, &error),
              SHIM_INVALID_ARGUMENT, "path of 0 bytes");
  CHECK_EQ(fd, 0);
  int64_t length = 7;
  CHECK_FAILS(shim_file_length(-1, &length, &error), SHIM_INVALID_ARGUMENT,
              "length is not known");
  CHECK_EQ(length, 0);
}

int main(void) {
  int created = mkstemp(path);
  CHECK(created >= 0);
  close(created);
  RUN(our_declarations_are_those_of_the_kernel);
  RUN(what_is_no_file_is_refused);
  RUN(sizes_that_are_no_power_of_two_are_refused);
  RUN(a_kernel_that_forbids_it_is_named);
  shim_error_t error = {0};
  shim_file_ring_t* ring = NULL;
  if (shim_file_ring_create(2, &ring, &error) == SHIM_UNAVAILABLE) {
    fprintf(stderr, "SKIPPED the transfers: %s\n", error.message);
  } else {
    shim_file_ring_release(ring);
    RUN(what_is_written_is_read);
    RUN(errors_are_those_of_the_system);
    RUN(a_read_that_waits_is_cancelled);
    RUN(more_than_the_ring_holds_goes_round);
    RUN(completions_that_find_the_ring_full_are_not_lost);
  }
  unlink(path);
  return 0;
}
