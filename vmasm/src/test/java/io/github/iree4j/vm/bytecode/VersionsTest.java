package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmWait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Differences between versions of bytecode. The conformance suites, run in each version, check everything else for
 * equality.
 */
class VersionsTest {
    private static final String TWICE = """
            vm.type !test.counted
            vm.import @host.make cconv "0v_r"
            vm.import @host.look cconv "0r_v"
            vm.export @twice
            vm.func @twice() -> () {
            ^bb0:
              %r0 = vm.call @host.make()
              vm.call @host.look(%R0)
              vm.call @host.look(%R0)
              vm.return
            }
            """;

    private final AtomicInteger live = new AtomicInteger();
    private final List<@Nullable Counted> seen = new ArrayList<>();
    private final List<Boolean> resumed = new ArrayList<>();

    private final NativeModule host = NativeModule.builder("host", 0, () -> "")
            .function("make", "0v_r", (s, c) -> c.returnRef(new Counted(live)))
            .function("look", "0r_v", (s, c) -> seen.add(c.ref(Counted.class)))
            .function("wait", "0i_i", (s, c) -> {
                resumed.add(c.resumed());
                if (c.resumed()) {
                    c.returnI32(c.i32() + 1);
                } else {
                    c.defer(VmWait.NONE);
                }
            })
            .build();

    @AfterEach
    void interpretAgain() {
        Programs.compile(Compilation.byDefault());
    }

    @ParameterizedTest
    @CsvSource({"15, OFF", "15, EAGER", "16, OFF", "16, EAGER", "17, OFF", "17, EAGER"})
    void argumentsOfImportsAreMovedFromVersion16On(int version, Compilation compilation) {
        Programs.compile(compilation);
        BytecodeModule module = Programs.module("m", "vm.bytecode " + version + "\n" + TWICE);
        try (Programs.Running running = Programs.run(host, module)) {
            running.call("m.twice").run();
        }
        assertThat(seen).hasSize(2);
        assertThat(seen.getFirst()).isNotNull();
        if (version == 15) {
            assertThat(seen.getLast()).isSameAs(seen.getFirst());
        } else {
            assertThat(seen.getLast()).isNull();
        }
        assertThat(live).hasValue(0);
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16})
    void featuresOfVersion17AreUnknownBefore(int version) {
        assertRefused(
                version,
                "vm.requires YIELD\nvm.func @f() -> () {\n^bb0:\n  vm.return\n}\n",
                StatusCode.INCOMPATIBLE,
                "module 'm' needs features YIELD and bytecode %d.0 has EXT_F32|EXT_F64".formatted(version));
        assertRefused(
                version,
                "vm.func @f() -> () {\n  vm.requires UNWIND\n^bb0:\n  vm.return\n}\n",
                StatusCode.INCOMPATIBLE,
                "needs features UNWIND and bytecode %d.0 has EXT_F32|EXT_F64".formatted(version));
    }

    @ParameterizedTest
    @CsvSource({"15, 0x85", "15, 0x86", "15, 0x87", "15, 0x88", "16, 0x87", "16, 0x88"})
    void operationsOfLaterVersionsAreUnknown(int version, String number) {
        byte[] file = new Body()
                .block()
                .u8(Integer.decode(number))
                .returnNothing()
                .into(
                        "vm.module @m version 3\nvm.bytecode " + version
                                + "\nvm.func @f() -> () {\n^bb0:\n  %i0 = vm.const.i32 1\n  vm.return\n}\n",
                        1,
                        0,
                        0);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Programs.read(file))
                .withMessageContaining("opcode %s is not in bytecode %d.0".formatted(number, version))
                .matches(e -> e.code() == StatusCode.INVALID_ARGUMENT);
    }

    /**
     * Until IREE 3.4, {@code (i32, i64, i32, i32)} was compiled for the words 0, 2 and 3, 1, 4: a function that reads
     * word 1 shows the word for the whole module, also for the function that ignores the argument.
     */
    @ParameterizedTest
    @CsvSource({
        "15, true, OFF, 4030201, 40",
        "15, true, EAGER, 4030201, 40",
        "15, false, OFF, 0, 30",
        "16, true, OFF, 3000201, 30",
        "17, true, EAGER, 3000201, 30"
    })
    void argumentsFillGapsWhereTheCompilerSaysSo(
            int version, boolean reads, Compilation compilation, int all, int last) {
        Programs.compile(compilation);
        BytecodeModule module = Programs.module("m", "vm.bytecode " + version + (reads ? """

                    vm.export @all
                    vm.func @all(%i0: i32, %i2:3: i64, %i4: i32, %i5: i32) -> (i32) {
                    ^bb0:
                      %i6 = vm.const.i32 100
                      %i5 = vm.const.i32 0
                      vm.cond_br %i0, ^bb1(), ^bb2()
                    ^bb1:
                      %i5 = vm.mul.i32 %i4, %i6
                      %i5 = vm.add.i32 %i5, %i1
                      vm.br ^bb2()
                    ^bb2:
                      %i5 = vm.mul.i32 %i5, %i6
                      %i7 = vm.trunc.i64.i32 %i2:3
                      %i5 = vm.add.i32 %i5, %i7
                      %i5 = vm.mul.i32 %i5, %i6
                      %i5 = vm.add.i32 %i5, %i0
                      vm.return %i5
                    }
                    vm.export @caller
                    vm.func @caller() -> (i32) {
                    ^bb0:
                      %i0 = vm.const.i32 1
                      %i2:3 = vm.const.i64 2
                      %i1 = vm.const.i32 3
                      %i4 = vm.const.i32 4
                      %i0 = vm.call @all(%i0, %i2, %i1, %i4)
                      vm.return %i0
                    }
                    """ : "\n") + """
                    vm.export @last
                    vm.func @last(%i0: i32, %i2:3: i64, %i4: i32, %i5: i32) -> (i32) {
                    ^bb0:
                      vm.return %i4
                    }
                    """);
        try (Programs.Running running = Programs.run(module)) {
            if (reads) {
                try (Invocation call = running.call("m.caller")) {
                    call.run();
                    assertThat(call.i32()).isEqualTo(all);
                }
            }
            try (Invocation call = running.call("m.last")) {
                call.i32(10).i64(20).i32(30).i32(40).run();
                assertThat(call.i32()).isEqualTo(last);
            }
        }
    }

    /** Before version 17, the code does not tell whether a call may defer. */
    @ParameterizedTest
    @EnumSource(
            value = Compilation.class,
            names = {"OFF", "EAGER"})
    void importsDeferInPlainCallsOfAllVersions(Compilation compilation) {
        Programs.compile(compilation);
        for (int version = 15; version <= 17; version++) {
            resumed.clear();
            BytecodeModule module = Programs.module("m", "vm.bytecode " + version + """

                    vm.import @host.wait cconv "0i_i"
                    vm.export @f
                    vm.func @inner(%i0: i32) -> (i32) {
                    ^bb0:
                      %i1 = vm.call @host.wait(%i0)
                      vm.return %i1
                    }
                    vm.func @f(%i0: i32) -> (i32) {
                    ^bb0:
                      %i1 = vm.call @inner(%i0)
                      %i2 = vm.add.i32 %i1, %i0
                      vm.return %i2
                    }
                    """);
            try (Programs.Running running = Programs.run(host, module);
                    Invocation call = running.call("m.f")) {
                assertThat(call.i32(20).start()).isFalse();
                assertThat(call.resume()).isTrue();
                assertThat(call.i32()).isEqualTo(41);
            }
            assertThat(resumed).containsExactly(false, true);
        }
    }

    private static void assertRefused(int version, String text, StatusCode code, String message) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Programs.module("m", "vm.bytecode " + version + "\n" + text))
                .withMessageContaining(message)
                .matches(e -> e.code() == code);
    }
}
