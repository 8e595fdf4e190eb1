package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.assembled;
import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckCommandTest {
    private static final String HEAD = """
            vm.module @sums
            vm.import @check.expect_true cconv "0i_v"
            vm.import @check.expect_false cconv "0i_v"
            vm.global.i32 mutable @calls
            vm.export @adds
            vm.export @starts_afresh
            vm.func @adds() -> () {
            ^bb0:
              %i0 = vm.const.i32 2
              %i1 = vm.add.i32 %i0, %i0
              %i2 = vm.const.i32 4
              %i3 = vm.cmp.eq.i32 %i1, %i2
              vm.call @check.expect_true(%i3)
              vm.global.store.i32 %i2, @calls
              vm.return
            }
            vm.func @starts_afresh() -> () {
            ^bb0:
              %i0 = vm.global.load.i32 @calls
              vm.call @check.expect_false(%i0)
              vm.return
            }
            """;

    private static final String WRONG = HEAD.replace("vm.export @adds\n", "vm.export @adds\nvm.export @wrong\n") + """
            vm.func @wrong() -> () {
            ^bb0:
              %i0 = vm.const.i32 7
              vm.call @check.expect_false(%i0)
              %i1 = vm.const.i32.zero
              vm.call @check.expect_true(%i1)
              vm.return
            }
            """;

    @TempDir
    private Path directory;

    private static String withoutTimes(String text) {
        return text.replaceAll("\\(\\d+ ms", "(0 ms");
    }

    @Test
    void everyExportIsATestInItsOwnProgram() throws IOException {
        CommandLineRun run = iree4j("check", "--module=" + assembled(directory, "sums", HEAD));
        assertThat(run.err()).isEmpty();
        assertThat(withoutTimes(run.out())).isEqualTo("""
                [==========] Running 2 tests from 1 test suite.
                [----------] 2 tests from sums
                [ RUN      ] sums.adds
                [       OK ] sums.adds (0 ms)
                [ RUN      ] sums.starts_afresh
                [       OK ] sums.starts_afresh (0 ms)
                [----------] 2 tests from sums (0 ms total)

                [==========] 2 tests from 1 test suite ran. (0 ms total)
                [  PASSED  ] 2 tests.
                """);
        assertThat(run.status()).isZero();
    }

    @Test
    void testReportsAllFailedExpectationsAndOthersRun() throws IOException {
        CommandLineRun run = iree4j("check", "--module=" + assembled(directory, "sums", WRONG));
        assertThat(run.status()).isEqualTo(1);
        assertThat(withoutTimes(run.out()))
                .contains("[ RUN      ] sums.wrong\n"
                        + "Failure\ncheck.expect_false: expected 0 but have 7\n"
                        + "Failure\ncheck.expect_true: expected a value other than 0\n"
                        + "[  FAILED  ] sums.wrong (0 ms)\n"
                        + "[ RUN      ] sums.starts_afresh\n"
                        + "[       OK ] sums.starts_afresh (0 ms)\n")
                .endsWith("[  PASSED  ] 2 tests.\n"
                        + "[  FAILED  ] 1 test, listed below:\n"
                        + "[  FAILED  ] sums.wrong\n"
                        + "\n 1 FAILED TEST\n");
    }

    @Test
    void expectFailureInvertsTheStatus() throws IOException {
        CommandLineRun wrong = iree4j("check", "--expect_failure", "--module=" + assembled(directory, "sums", WRONG));
        assertThat(wrong.status()).isZero();
        assertThat(wrong.out()).endsWith("Test failed as expected\n");
        CommandLineRun right = iree4j("check", "--expect_failure", "--module=" + assembled(directory, "sums", HEAD));
        assertThat(right.status()).isEqualTo(1);
        assertThat(right.out()).endsWith("Test passed but expected failure\n");
    }

    @Test
    void trapFailsTheTest() throws IOException {
        String module = assembled(directory, "trap", """
                vm.module @trap
                vm.export @divides
                vm.func @divides() -> () {
                ^bb0:
                  %i0 = vm.const.i32 1
                  %i1 = vm.const.i32.zero
                  %i2 = vm.div.i32.s %i0, %i1
                  vm.return
                }
                """);
        CommandLineRun run = iree4j("check", "--module=" + module);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).contains("Failure\n").contains("division by zero").contains("[  FAILED  ] trap.divides");
    }

    @Test
    void testsAreFilteredAndListed() throws IOException {
        String module = "--module=" + assembled(directory, "sums", WRONG);
        CommandLineRun run = iree4j("check", module, "--gtest_filter=sums.*-*wrong:sums.a??s");
        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("[  PASSED  ] 1 test.").contains("OK ] sums.starts_afresh");
        run = iree4j("check", module, "--gtest_filter=nothing");
        assertThat(run.status()).isZero();
        assertThat(run.out()).startsWith("[==========] Running 0 tests from 0 test suites.\n");
        run = iree4j("check", module, "--gtest_list_tests");
        assertThat(run.out()).isEqualTo("sums.\n  adds\n  wrong\n  starts_afresh\n");
    }

    @Test
    void severalFilesRunIndependently() throws IOException {
        String sums = assembled(directory, "sums", HEAD);
        String adder = CommandLineRun.fixture("3.11.0/cpu/add.vmfb");
        CommandLineRun run = iree4j("check", adder, directory + "/missing.vmfb", sums);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out())
                .contains("INVALID_ARGUMENT; a test takes and returns nothing")
                .contains("OK ] sums.starts_afresh")
                .endsWith("1 of 3 files passed\nfailed: " + adder + "\nfailed: " + directory + "/missing.vmfb\n");
        assertThat(iree4j("check", "--expect_failure", sums, directory + "/missing.vmfb")
                        .status())
                .isEqualTo(1);
        run = iree4j("check", sums, sums);
        assertThat(run.status()).isZero();
        assertThat(run.out()).startsWith(sums + "\n[=====").endsWith("2 of 2 files passed\n");
    }

    @Test
    void singleFileIsTreatedAsTheLastModule() throws IOException {
        String sums = assembled(directory, "sums", HEAD);
        CommandLineRun one = iree4j("check", sums);
        assertThat(one.status()).isZero();
        assertThat(withoutTimes(one.out()))
                .isEqualTo(withoutTimes(iree4j("check", "--module=" + sums).out()));
        assertThat(iree4j("check", directory + "/missing.vmfb").err()).contains("missing.vmfb");
    }

    @Test
    void rejectsModuleWithOtherFunctions() {
        CommandLineRun run = iree4j("check", "--module=" + CommandLineRun.fixture("3.11.0/cpu/add.vmfb"));
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).startsWith("INVALID_ARGUMENT; a test takes and returns nothing, but 'module.add'");
        CommandLineRun without = iree4j("check");
        assertThat(without.status()).isEqualTo(2);
        assertThat(without.err()).startsWith("Missing required option: '--module=FILE'");
        assertThat(iree4j("check", "--device=no-such-device").err()).startsWith("Missing required option");
    }
}
