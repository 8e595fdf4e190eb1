package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import java.lang.management.ManagementFactory;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class InvocationTest {
    private final NativeModule host = NativeModule.builder("host", 0, () -> "")
            .function("mix", "0iIfFr_FfIir", (s, c) -> {
                int i = c.i32();
                long l = c.i64();
                float f = c.f32();
                double d = c.f64();
                VmBuffer r = c.required(VmBuffer.class);
                c.returnF64(d * 2);
                c.returnF32(f * 2);
                c.returnI64(l * 2);
                c.returnI32(i * 2);
                c.returnRef(r);
            })
            .function("sum", "0iCiID_I", (s, c) -> {
                long sum = c.i32();
                int count = c.spanCount();
                for (int i = 0; i < count; i++) {
                    sum += c.i32() * c.i64();
                }
                c.returnI64(sum);
            })
            .function("misreads", "0i_v", (s, c) -> c.i64())
            .function("forgets", "0v_ii", (s, c) -> c.returnI32(1))
            .function("overdoes", "0v_i", (s, c) -> {
                c.returnI32(1);
                c.returnI32(2);
            })
            .function("throws", "0v_v", (s, c) -> {
                throw new IllegalStateException("out of order");
            })
            .build();

    /** Passes 64-bit values through calls of functions in positions other than the first. */
    private static final String MIX = """
            vm.import @host.mix cconv "0iIfFr_FfIir"
            vm.export @f
            vm.func @f(%i0: i32, %i2:3: i64, %i4: f32, %i6:7: f64, %r0: !vm.buffer) -> (f64, f32, i64, i32, !vm.buffer) {
              %i20:21, %i22, %i24:25, %i19, %r3 = vm.call @m:1(%i0, %i2:3, %i4, %i6:7, %R0)
              vm.return %i20:21, %i22, %i24:25, %i19, %R3
            }
            vm.func @g(%i0: i32, %i2:3: i64, %i4: f32, %i6:7: f64, %r0: !vm.buffer) -> (f64, f32, i64, i32, !vm.buffer) {
              %i0:1, %i2, %i4:5, %i3, %r1 = vm.call @host.mix(%i0, %i2:3, %i4, %i6:7, %r0)
              vm.return %i0:1, %i2, %i4:5, %i3, %r1
            }
            """;

    @Test
    void valuesOfAllTypesGoThroughCallsAndBack() {
        VmBuffer buffer = VmBuffer.ofUtf8("text");
        try (Programs.Running program = Programs.run(host, Programs.module("m", MIX));
                Invocation call = program.call("m.f")) {
            call.i32(-3).i64(1L << 40 | 5).f32(1.5f).f64(-2.25).ref(buffer).run();
            assertThat(call.f64()).isEqualTo(-4.5);
            assertThat(call.f32()).isEqualTo(3f);
            assertThat(call.i64()).isEqualTo(1L << 41 | 10);
            assertThat(call.i32()).isEqualTo(-6);
            assertThat(call.ref(VmBuffer.class)).isSameAs(buffer);
        }
    }

    @Test
    void callsAllocateNothingOnceWarm() {
        VmBuffer buffer = VmBuffer.ofUtf8("text");
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (Programs.Running program = Programs.run(host, Programs.module("m", MIX));
                Invocation call = program.call("m.f")) {
            long least = Long.MAX_VALUE;
            for (int round = 0; round < 20; round++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 1000; i++) {
                    call.i32(i).i64(i).f32(i).f64(i).ref(buffer).run();
                    call.f64();
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertThat(least).as("bytes for 1000 calls").isLessThan(1000);
        }
    }

    @Test
    void spansArePassedToFunctionsInJava() {
        try (Programs.Running program = Programs.run(host);
                Invocation call = program.call("host.sum")) {
            call.i32(1).span(2).i32(2).i64(10).i32(3).i64(100).run();
            assertThat(call.i64()).isEqualTo(321);
            call.i32(1).span(0).run();
            assertThat(call.i64()).isEqualTo(1);
        }
    }

    @Test
    void wrongArgumentsAreReportedAndLeaveTheInvocationUsable() {
        try (Programs.Running program = Programs.run(host);
                Invocation call = program.call("host.sum")) {
            assertInvalid(
                    call, c -> c.i64(1), "argument 0 of 'host.sum' was given as 'I' against its convention '0iCiID_I'");
            assertInvalid(call, c -> c.nullRef(), "argument 0 of 'host.sum' was given as 'r'");
            assertInvalid(call, Invocation::run, "was given too few arguments (0)");
            assertInvalid(call, c -> c.i32(1).i32(1), "argument 1 of 'host.sum' was given as 'i'");
            assertInvalid(call, c -> c.span(-1), "span of -1 tuples");
            assertInvalid(call, c -> c.span(1).run(), "was given too few arguments (2)");
            assertInvalid(call, c -> c.i32(2).i32(2), "argument 3 of 'host.sum' was given as 'i'");
            assertInvalid(call, c -> c.i64(3).i64(3), "argument 4 of 'host.sum' was given as 'I'");
            call.run();
            assertThat(call.i64()).isEqualTo(7);
        }
    }

    @Test
    void wrongResultsAreReported() {
        try (Programs.Running program = Programs.run(host, Programs.module("m", MIX));
                Invocation call = program.call("m.f")) {
            call.i32(1).i64(1).f32(1).f64(1).ref(VmBuffer.ofUtf8("")).run();
            assertInvalid(call, c -> c.i32(), "result 0 of 'm.f' was read as 'i' against its convention");
            call.f64();
            call.f32();
            call.i64();
            call.i32();
            assertInvalid(call, c -> c.ref(String.class), "result 4 of 'm.f' is a !vm.buffer where a String is wanted");
        }
    }

    private static void assertInvalid(Invocation call, Consumer<Invocation> use, String message) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> use.accept(call))
                .withMessageContaining(message)
                .matches(e -> e.code() == StatusCode.INVALID_ARGUMENT);
    }

    @Test
    void bugsOfFunctionsInJavaAreInternalAndNameTheFunctions() {
        String[][] mistakes = {
            {"misreads", "'host.misreads' reads argument 0 as 'I' against its convention '0i_v'"},
            {"forgets", "'host.forgets' set 1 of 2 results"},
            {"overdoes", "'host.overdoes' sets result 1 as 'i' against its convention '0v_i'"},
            {"throws", "out of order"}
        };
        try (Programs.Running program = Programs.run(host)) {
            for (String[] mistake : mistakes) {
                try (Invocation call = program.call("host." + mistake[0])) {
                    if (mistake[0].equals("misreads")) {
                        call.i32(1);
                    }
                    assertThatExceptionOfType(IreeException.class)
                            .isThrownBy(call::run)
                            .withMessageContaining(mistake[1])
                            .matches(e -> e.code() == StatusCode.INTERNAL);
                }
            }
        }
    }

    @Test
    void nullWhereAnObjectIsRequiredIsInvalid() {
        try (Programs.Running program = Programs.run(host, Programs.module("m", MIX));
                Invocation call = program.call("m.f")) {
            call.i32(1).i64(1).f32(1).f64(1).nullRef();
            assertInvalid(call, Invocation::run, "argument 4 of 'host.mix' is null where a VmBuffer is wanted");
            call.i32(1).i64(1).f32(1).f64(1).ref("a text");
            assertInvalid(call, Invocation::run, "argument 4 of 'host.mix' is a String where a VmBuffer is wanted");
        }
    }

    @Test
    void closedInvocationCannotBeUsed() {
        try (Programs.Running program = Programs.run(host)) {
            Invocation call = program.call("host.sum");
            call.close();
            call.close();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> call.i32(1))
                    .matches(e -> e.code() == StatusCode.FAILED_PRECONDITION);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(call::run)
                    .matches(e -> e.code() == StatusCode.FAILED_PRECONDITION);
        }
    }
}
