package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.assembled;
import static io.github.iree4j.tools.CommandLineRun.fixture;
import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TraceCommandTest {
    private static final String MODULE = """
            vm.module @m
            vm.import @check.expect_true cconv "0i_v"
            vm.export @outer
            vm.export @fails
            vm.export @loops
            vm.func @outer(%i0: i32, %i2:3: i64) -> (i64, !vm.buffer) {
            ^bb0:
              %i1 = vm.call @inner(%i0)
              vm.call @check.expect_true(%i1)
              %r0 = vm.const.ref.rodata 0
              vm.return %i2:3, %R0
            }
            vm.func @inner(%i0: i32) -> (i32) {
            ^bb0:
              %i0 = vm.add.i32 %i0, %i0
              vm.return %i0
            }
            vm.func @fails() -> () {
            ^bb0:
              %i0 = vm.const.i32.zero
              %i1 = vm.call @inner(%i0)
              vm.call @check.expect_true(%i1)
              vm.return
            }
            vm.func @loops(%i0: i32) -> () {
            ^bb0:
              vm.br ^bb1()
            ^bb1:
              %i1 = vm.call @inner(%i0)
              %i2 = vm.const.i32 1
              %i0 = vm.sub.i32 %i0, %i2
              %i3 = vm.cmp.nz.i32 %i0
              vm.cond_br %i3, ^bb1(), ^bb2()
            ^bb2:
              vm.return
            }
            """.replace("vm.export @outer", "vm.rodata[0] = \"hello\"\nvm.export @outer");

    @TempDir
    private Path directory;

    private CommandLineRun trace(String... more) throws IOException {
        String[] arguments = new String[more.length + 2];
        arguments[0] = "trace";
        arguments[1] = "--module=" + assembled(directory, "m", MODULE);
        System.arraycopy(more, 0, arguments, 2, more.length);
        return iree4j(arguments);
    }

    @Test
    void printsFunctionsAndImportsWithArgumentsAndResults() throws IOException {
        CommandLineRun run = trace("--function=outer", "--input=21", "--input=-5");
        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.out()).isEqualTo("""
                EXEC @outer
                m.outer(21, -5L) {
                  m.#1(21) -> 42
                  check.expect_true(42)
                } -> -5L, "hello"
                result[0]: i64=-5
                result[1]: vm.buffer
                (no printer)
                """);
    }

    @Test
    void printsWhereAProgramFails() throws IOException {
        CommandLineRun run = trace("--function=fails");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains("FAILED_PRECONDITION");
        assertThat(run.out().lines().toList())
                .satisfiesExactly(
                        l -> assertThat(l).isEqualTo("EXEC @fails"),
                        l -> assertThat(l).isEqualTo("m.fails() {"),
                        l -> assertThat(l).isEqualTo("  m.#1(0) -> 0"),
                        l -> assertThat(l).startsWith("  check.expect_true(0) !! FAILED_PRECONDITION; "),
                        l -> assertThat(l).startsWith("} m.fails !! FAILED_PRECONDITION; "));
    }

    @Test
    void outputIsBounded() throws IOException {
        CommandLineRun run = trace("--function=loops", "--input=100000", "--max_lines=3");
        assertThat(run.status()).isZero();
        assertThat(run.out()).isEqualTo("""
                EXEC @loops
                m.loops(100000) {
                  m.#1(100000) -> 200000
                  m.#1(99999) -> 199998
                ... 99999 more lines; raise --max_lines, or use --filter or --max_depth
                """);
        assertThat(trace("--function=outer", "--input=1", "--input=2", "--max_depth=1")
                        .out())
                .startsWith("EXEC @outer\nm.outer(1, 2L) -> 2L, \"hello\"\n");
        assertThat(trace("--function=outer", "--input=1", "--input=2", "--filter=^check")
                        .out())
                .startsWith("EXEC @outer\n  check.expect_true(2)\nresult[0]");
        assertThat(trace("--function=outer", "--filter=(").status()).isEqualTo(2);
    }

    @Test
    void tracesCompiledProgramsFromTheirInitialisationOn() {
        String[] add = {
            "trace", "--module=" + fixture("3.11.0/cpu/add.vmfb"), "--input=4xf32=1 2 3 4", "--input=4xf32=10 20 30 40"
        };
        CommandLineRun run = iree4j(add);
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out())
                .startsWith("module.__init() {\n  hal.devices.count() -> 1\n  hal.devices.get(0) -> hal.device#1\n")
                .contains("EXEC @add\nmodule.add(hal.buffer_view#1<4xf32>, hal.buffer_view#2<4xf32>) {\n")
                .contains("  hal.buffer_view.assert(hal.buffer_view#1<4xf32>, \"input0\", 553648160, 1, [4L])\n")
                .contains("[(hal.buffer#1<16 bytes>, 0L, 16L), (hal.buffer#2<16 bytes>, 0L, 16L), ")
                .endsWith("} -> hal.buffer_view#3<4xf32>\nresult[0]: hal.buffer_view\n4xf32=11 22 33 44\n");
        CommandLineRun loaded = iree4j("trace", "--module=" + fixture("3.11.0/cpu/add.vmfb"), "--init_only");
        assertThat(loaded.out())
                .startsWith("module.__init() {\n")
                .endsWith("}\n")
                .doesNotContain("EXEC");
    }

    @Test
    void invalidUsageIsStatusTwo() {
        assertThat(iree4j("trace").status()).isEqualTo(2);
        assertThat(iree4j("trace", "--module=" + fixture("3.11.0/cpu/add.vmfb"), "--max_depth=deep")
                        .status())
                .isEqualTo(2);
    }
}
