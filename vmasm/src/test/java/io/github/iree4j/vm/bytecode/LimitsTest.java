package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.CodeAttribute;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LimitsTest {
    private static final String RECURSION = """
            vm.export @f
            vm.func @f(%i0: i32) -> (i32) {
              %i1 = vm.const.i32 1
              vm.cond_br %i0, ^bb1(), ^bb2()
            ^bb1:
              %i2 = vm.sub.i32 %i0, %i1
              %i2 = vm.call @m:0(%i2)
              %i2 = vm.add.i32 %i2, %i1
              vm.return %i2
            ^bb2:
              vm.return %i0
            }
            """;

    @Test
    void recursionReachesTheLimitAndNotBeyond() {
        ContextOptions options = ContextOptions.DEFAULTS.maxCallDepth(1000).maxMemory(0);
        try (Programs.Running program = Programs.run(options, Programs.module("m", RECURSION));
                Invocation call = program.call("m.f")) {
            call.i32(999).run();
            assertThat(call.i32()).isEqualTo(999);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> call.i32(1000).run())
                    .withMessageContaining(
                            "calling 'f' needs frame 1001 and the limit is 1000; is the recursion endless?")
                    .matches(e -> e.code() == StatusCode.RESOURCE_EXHAUSTED);
            call.i32(10).run();
            assertThat(call.i32()).isEqualTo(10);
        }
    }

    @Test
    void registersOfAllFramesTogetherAreLimited() {
        ContextOptions options = ContextOptions.DEFAULTS
                .maxCallDepth(1 << 20)
                .maxStackWords(10_000)
                .maxMemory(0);
        String text = RECURSION.replace("-> (i32) {\n", "-> (i32) {\n  vm.registers values 3000 refs 0\n");
        try (Programs.Running program = Programs.run(options, Programs.module("m", text));
                Invocation call = program.call("m.f")) {
            call.i32(2).run();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> call.i32(3).run())
                    .withMessageContaining("and the limit is 10000; is the recursion endless?")
                    .matches(e -> e.code() == StatusCode.RESOURCE_EXHAUSTED);
        }
    }

    @Test
    void failureNamesTheInnermostFrames() {
        try (Programs.Running program = Programs.run(Programs.module("m", RECURSION));
                Invocation call = program.call("m.f")) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> call.i32(-1).run())
                    .satisfies(e ->
                            assertThat(e.getMessage().split("in @m.f\\+0x", -1)).hasSize(17))
                    .withMessageEndingWith(", and 4080 more");
        }
    }

    @Test
    void failureNamesEachFunctionOnTheWay() {
        String text = """
                vm.export @f
                vm.func @f() -> () {
                  vm.call @m:1()
                  vm.return
                }
                vm.func @g() -> () {
                  %i0 = vm.const.i32 5
                  vm.fail %i0, "the reason"
                }
                """;
        try (Programs.Running program = Programs.run(Programs.module("m", text));
                Invocation call = program.call("m.f")) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(call::run)
                    .withMessage("the reason; in @m.#1+0x8, in @m.f+0x1")
                    .matches(e -> e.code() == StatusCode.NOT_FOUND);
        }
    }

    @Test
    void emptyObjectsCountAgainstTheMemoryLimit() {
        String text = """
                vm.export @buffers
                vm.func @buffers() -> () {
                  %i0:1 = vm.const.i64.zero
                  vm.br ^bb1()
                ^bb1:
                  %r0 = vm.buffer.alloc %i0:1, %i0
                  vm.call @keep(%r0)
                  vm.br ^bb1()
                }
                vm.export @lists
                vm.func @lists() -> () {
                  %i0 = vm.const.i32.zero
                  vm.br ^bb1()
                ^bb1:
                  %r0 = vm.list.alloc %i0 : !vm.list<i32>
                  vm.call @keep(%r0)
                  vm.br ^bb1()
                }
                vm.func @keep(%r0: !vm.opaque) -> () {
                  %i0 = vm.const.i32 1
                  %r1 = vm.global.load.ref .refs[0] : !vm.list<!vm.opaque>
                  %i1 = vm.cmp.nz.ref %r1
                  vm.cond_br %i1, ^bb2(), ^bb1()
                ^bb1:
                  %r1 = vm.list.alloc %i0 : !vm.list<!vm.opaque>
                  vm.global.store.ref %r1, .refs[0] : !vm.list<!vm.opaque>
                  vm.br ^bb2()
                ^bb2:
                  %i1 = vm.list.size %r1
                  %i2 = vm.add.i32 %i1, %i0
                  vm.list.resize %r1, %i2
                  vm.list.set.ref %r1, %i1, %r0
                  vm.return
                }
                """;
        for (String function : new String[] {"m.buffers", "m.lists"}) {
            ContextOptions options = ContextOptions.DEFAULTS.maxMemory(1 << 20);
            try (Programs.Running program =
                            Programs.run(options, Programs.module("m", "vm.state bytes 0 refs 1\n" + text));
                    Invocation call = program.call(function)) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(call::run)
                        .withMessageContaining("exceed the 1048576 that programs of this context may hold")
                        .matches(e -> e.code() == StatusCode.RESOURCE_EXHAUSTED);
            }
        }
    }

    private static final String ALLOCATION = """
            vm.export @buffer
            vm.func @buffer(%i0:1: i64) -> (i64) {
              %i2 = vm.const.i32 16
              %r0 = vm.buffer.alloc %i0:1, %i2
              %i0:1 = vm.buffer.length %r0
              vm.return %i0:1
            }
            vm.export @clone
            vm.func @clone(%i0:1: i64) -> () {
              %i2 = vm.const.i32 16
              %i4:5 = vm.const.i64.zero
              %r0 = vm.buffer.alloc %i0:1, %i2
              %r1 = vm.buffer.clone %r0, %i4:5, %i0:1, %i2
              vm.return
            }
            vm.export @list
            vm.func @list(%i0: i32) -> () {
              %r0 = vm.list.alloc %i0 : !vm.list<i32>
              vm.return
            }
            vm.export @reserve
            vm.func @reserve(%i0: i32) -> () {
              %i1 = vm.const.i32.zero
              %r0 = vm.list.alloc %i1 : !vm.list<i32>
              vm.list.reserve %r0, %i0
              vm.return
            }
            vm.export @resize
            vm.func @resize(%i0: i32) -> () {
              %i1 = vm.const.i32.zero
              %r0 = vm.list.alloc %i1 : !vm.list<!vm.opaque>
              vm.list.resize %r0, %i0
              vm.return
            }
            """;

    @Test
    void buffersAreChargedToTheContextUntilReleased() {
        ContextOptions options = ContextOptions.DEFAULTS.maxMemory(1256);
        try (Programs.Running program = Programs.run(options, Programs.module("m", ALLOCATION));
                Invocation call = program.call("m.buffer");
                Invocation clone = program.call("m.clone")) {
            for (int i = 0; i < 3; i++) {
                call.i64(1000).run();
                assertThat(call.i64()).isEqualTo(1000);
                clone.i64(500).run();
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> clone.i64(501).run())
                        .withMessageContaining(
                                "629 bytes on top of 629 held exceed the 1256 that programs of this context may hold")
                        .matches(e -> e.code() == StatusCode.RESOURCE_EXHAUSTED);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1001, 1L << 31, 1L << 40, Long.MAX_VALUE})
    void largeBufferIsRefusedBeforeItsAllocation(long length) {
        assertRefused("m.buffer", length, StatusCode.RESOURCE_EXHAUSTED);
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE})
    void bufferOfNegativeLengthIsInvalid(long length) {
        assertRefused("m.buffer", length, StatusCode.INVALID_ARGUMENT);
    }

    @ParameterizedTest
    @ValueSource(strings = {"m.list", "m.reserve", "m.resize"})
    void largeListIsRefusedBeforeItsAllocation(String function) {
        for (int size : new int[] {1000, Integer.MAX_VALUE, -1, Integer.MIN_VALUE}) {
            assertRefused(function, size, StatusCode.RESOURCE_EXHAUSTED);
        }
    }

    private static void assertRefused(String function, long size, StatusCode code) {
        ContextOptions options = ContextOptions.DEFAULTS.maxMemory(1000);
        try (Programs.Running program = Programs.run(options, Programs.module("m", ALLOCATION));
                Invocation call = program.call(function)) {
            if (call.function().convention().arguments().equals("I")) {
                call.i64(size);
            } else {
                call.i32((int) size);
            }
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(call::run)
                    .matches(e -> e.code() == code, code.toString());
        }
    }

    /** Bytes of bytecode above the limit of HotSpot's compilation of a method (-XX:HugeMethodLimit). */
    @ParameterizedTest
    @ValueSource(classes = {Interpreter.class, WordLoop.class, Instructions.class, FloatInstructions.class})
    void interpreterIsSmallEnoughToBeCompiled(Class<?> type) throws Exception {
        try (var bytes = Objects.requireNonNull(type.getResourceAsStream(type.getSimpleName() + ".class"))) {
            ClassFile.of()
                    .parse(bytes.readAllBytes())
                    .methods()
                    .forEach(method -> method.findAttribute(java.lang.classfile.Attributes.code())
                            .map(CodeAttribute::codeLength)
                            .ifPresent(length -> assertThat(length)
                                    .as("%s.%s", type.getSimpleName(), method.methodName())
                                    .isLessThan(8000)));
        }
    }
}
