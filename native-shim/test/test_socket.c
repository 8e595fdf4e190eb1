// Descriptors passed between processes, and peers that send malformed messages.
#include <dirent.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim_file.h"
#include "test.h"

static char directory[] = "/tmp/iree4j-test-socket-XXXXXX";
static char path[64];

static int open_descriptors(void) {
  int count = 0;
  DIR* all = opendir("/proc/self/fd");
  CHECK(all);
  while (readdir(all)) ++count;
  closedir(all);
  return count;
}

static void another_process_signals_what_it_was_sent(void) {
  int32_t listening;
  CHECK_OK(shim_socket_listen(path, strlen(path), &listening, &error));
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    int32_t peer;
    int32_t fd;
    uint64_t tag;
    CHECK_OK(shim_socket_connect(path, strlen(path), &peer, &error));
    CHECK_OK(shim_socket_receive(peer, -1, &fd, &tag, &error));
    CHECK_EQ(tag, 17);
    CHECK_OK(shim_event_signal(fd, 3, &error));
    CHECK_OK(shim_socket_send(peer, fd, 18, &error));
    _exit(0);
  }
  int32_t peer;
  CHECK_OK(shim_socket_accept(listening, 30000000000, &peer, &error));
  int32_t event;
  CHECK_OK(shim_event_create(&event, &error));
  CHECK_OK(shim_socket_send(peer, event, 17, &error));
  int32_t back;
  uint64_t tag;
  CHECK_OK(shim_socket_receive(peer, 30000000000, &back, &tag, &error));
  CHECK_EQ(tag, 18);
  uint64_t count = 0;
  CHECK_OK(shim_event_take(back, &count, &error));
  CHECK_EQ(count, 3);
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  CHECK_FAILS(shim_socket_receive(peer, -1, &back, &tag, &error),
              SHIM_UNAVAILABLE, "other side");
  CHECK_FAILS(shim_socket_send(peer, event, 1, &error), SHIM_UNAVAILABLE,
              "sendmsg");
  shim_event_close(event);
  shim_event_close(peer);
  shim_event_close(listening);
  unlink(path);
}

static void waiting_ends_with_time(void) {
  int32_t listening;
  int32_t peer = 7;
  CHECK_OK(shim_socket_listen(path, strlen(path), &listening, &error));
  CHECK_FAILS(shim_socket_accept(listening, 1000, &peer, &error),
              SHIM_DEADLINE_EXCEEDED, "1000 ns");
  CHECK_EQ(peer, 0);
  CHECK_OK(shim_socket_connect(path, strlen(path), &peer, &error));
  int32_t fd = 7;
  uint64_t tag = 7;
  CHECK_FAILS(shim_socket_receive(peer, 0, &fd, &tag, &error),
              SHIM_DEADLINE_EXCEEDED, "0 ns");
  CHECK_EQ(fd, 0);
  CHECK_EQ(tag, 0);
  shim_event_close(peer);
  shim_event_close(listening);
  unlink(path);
}

static void send_raw(int socket, const void* bytes, size_t size,
                     const int* fds, size_t count) {
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(32 * sizeof(int))];
  } control;
  memset(&control, 0, sizeof(control));
  struct iovec data = {.iov_base = (void*)(uintptr_t)bytes, .iov_len = size};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
  if (count > 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), fds, count * sizeof(int));
  }
  CHECK_EQ(sendmsg(socket, &message, 0), size);
}

static void messages_of_another_form_leave_no_descriptors(void) {
  int pair[2];
  CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
  int fds[20];
  for (int i = 0; i < 20; ++i) fds[i] = pair[0];
  const int before = open_descriptors();
  const char bytes[16] = "0123456789abcdef";
  const struct {
    size_t size;
    size_t count;
  } messages[] = {{8, 0}, {8, 2}, {8, 20}, {16, 1}, {3, 1}, {1, 0}};
  for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); ++i) {
#if defined(SHIM_EMULATED)
    if (messages[i].count > 2) {
      fprintf(stderr, "skipped: QEMU keeps descriptors of messages that are "
                      "cut short\n");
      continue;
    }
#endif
    send_raw(pair[0], bytes, messages[i].size, fds, messages[i].count);
    int32_t fd = 7;
    uint64_t tag = 7;
    CHECK_FAILS(shim_socket_receive(pair[1], -1, &fd, &tag, &error),
                SHIM_INVALID_ARGUMENT, "one descriptor");
    CHECK_EQ(fd, 0);
    CHECK_EQ(open_descriptors(), before);
  }
  close(pair[0]);
  close(pair[1]);
}

// The kernel accepts the message and drops its descriptor.
static void a_descriptor_that_finds_no_room_is_told(void) {
#if defined(SHIM_EMULATED)
  fprintf(stderr, "skipped: QEMU has its own limit of open files\n");
  return;
#endif
  int pair[2];
  CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
  CHECK_OK(shim_socket_send(pair[0], pair[0], 5, &error));
  const int next = dup(pair[0]);
  close(next);
  struct rlimit limit;
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const struct rlimit none = {(rlim_t)next, limit.rlim_max};
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  int32_t fd = 7;
  uint64_t tag = 7;
  CHECK_FAILS(shim_socket_receive(pair[1], -1, &fd, &tag, &error),
              SHIM_RESOURCE_EXHAUSTED, "raise the limit of open files");
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  CHECK_EQ(fd, 0);
  CHECK_EQ(tag, 0);
  CHECK_OK(shim_socket_send(pair[0], pair[0], 6, &error));
  CHECK_OK(shim_socket_receive(pair[1], -1, &fd, &tag, &error));
  CHECK_EQ(tag, 6);
  shim_event_close(fd);
  close(pair[0]);
  close(pair[1]);
}

static void paths_that_cannot_be_are_refused(void) {
  int32_t fd = 7;
  char long_path[200];
  memset(long_path, 'x', sizeof(long_path));
  CHECK_FAILS(shim_socket_listen(long_path, 108, &fd, &error),
              SHIM_INVALID_ARGUMENT, "path of 108 bytes");
  CHECK_FAILS(shim_socket_connect("", 0, &fd, &error), SHIM_INVALID_ARGUMENT,
              "path of 0 bytes");
  CHECK_FAILS(shim_socket_connect("/nowhere/x", 10, &fd, &error),
              SHIM_NOT_FOUND, "connect");
  int32_t listening;
  CHECK_OK(shim_socket_listen(path, strlen(path), &listening, &error));
  CHECK_FAILS(shim_socket_listen(path, strlen(path), &fd, &error),
              SHIM_ALREADY_EXISTS, "bind");
  shim_event_close(listening);
  CHECK_FAILS(shim_socket_connect(path, strlen(path), &fd, &error),
              SHIM_UNAVAILABLE, "connect");
  CHECK_FAILS(shim_socket_accept(-1, 0, &fd, &error), SHIM_DEADLINE_EXCEEDED,
              "nothing came");
  CHECK_EQ(fd, 0);
  unlink(path);
}

int main(void) {
  CHECK(mkdtemp(directory));
  snprintf(path, sizeof(path), "%s/s", directory);
  RUN(another_process_signals_what_it_was_sent);
  RUN(waiting_ends_with_time);
  RUN(messages_of_another_form_leave_no_descriptors);
  RUN(a_descriptor_that_finds_no_room_is_told);
  RUN(paths_that_cannot_be_are_refused);
  rmdir(directory);
  return 0;
}
