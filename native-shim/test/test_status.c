// Status names and errors.
#include "test.h"

static void every_code_has_its_name(void) {
#define CHECK_NAME(number, name) \
  CHECK(strcmp(shim_status_name(number), #name) == 0);
  SHIM_STATUS_MAP(CHECK_NAME)
#undef CHECK_NAME
}

static void codes_are_dense_from_0_to_18(void) {
  int next = 0;
#define CHECK_NUMBER(number, name) CHECK_EQ(number, next++);
  SHIM_STATUS_MAP(CHECK_NUMBER)
#undef CHECK_NUMBER
  CHECK_EQ(next, 19);
}

static void other_numbers_are_unknown(void) {
  CHECK(strcmp(shim_status_name(-1), "UNKNOWN") == 0);
  CHECK(strcmp(shim_status_name(19), "UNKNOWN") == 0);
}

static void error_keeps_code_number_and_text(void) {
  shim_error_t error;
  CHECK_EQ(shim_error_set(&error, SHIM_UNAVAILABLE, 7, "no '%s'", "x"),
           SHIM_UNAVAILABLE);
  CHECK_EQ(error.status, SHIM_UNAVAILABLE);
  CHECK_EQ(error.native_code, 7);
  CHECK(strcmp(error.message, "no 'x'") == 0);
}

static void long_messages_are_cut_and_terminated(void) {
  char text[1000];
  memset(text, 'a', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  shim_error_t error;
  memset(&error, 0xFF, sizeof(error));
  shim_error_set(&error, SHIM_INTERNAL, 0, "%s", text);
  CHECK_EQ(strlen(error.message), sizeof(error.message) - 1);
}

static void no_error_is_fine(void) {
  CHECK_EQ(shim_error_set(NULL, SHIM_INTERNAL, 0, "unseen"), SHIM_INTERNAL);
}

int main(void) {
  RUN(every_code_has_its_name);
  RUN(codes_are_dense_from_0_to_18);
  RUN(other_numbers_are_unknown);
  RUN(error_keeps_code_number_and_text);
  RUN(long_messages_are_cut_and_terminated);
  RUN(no_error_is_fine);
  return 0;
}
