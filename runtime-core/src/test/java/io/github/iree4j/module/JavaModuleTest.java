package io.github.iree4j.module;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.iree4j.modules.ModuleCalls;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmList;
import io.github.iree4j.vm.VmModule;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Mapping of Java types and exceptions to types and exceptions of programs, and ownership of a module's objects. */
class JavaModuleTest {
    record Mixed(double d, float f, long l, int i, boolean z) {}

    record Range(long offset, int length) {}

    @IreeModule(value = "types", version = 3)
    static final class Types {
        @Export
        static Mixed mix(int i, long l, float f, double d, boolean z) {
            return new Mixed(-d, -f, -l, -i, !z);
        }

        @Export
        private short narrow(byte b, short s) {
            return (short) (b + s);
        }

        @Export
        String greet(String name) {
            return "hello " + name;
        }

        @Export
        byte[] reverse(byte[] bytes) {
            byte[] result = new byte[bytes.length];
            for (int i = 0; i < bytes.length; i++) {
                result[i] = bytes[bytes.length - 1 - i];
            }
            return result;
        }

        @Export
        void increment(MemorySegment memory) {
            memory.set(ValueLayout.JAVA_BYTE, 0, (byte) (memory.get(ValueLayout.JAVA_BYTE, 0) + 1));
        }

        @Export
        List<String> sorted(List<String> texts) {
            return texts.stream().sorted().toList();
        }

        @Export
        List<Object> boxed(List<Long> numbers) {
            List<Object> all = new ArrayList<>();
            numbers.forEach(number -> all.add(number + 1));
            all.add(0.5f);
            all.add("end");
            return all;
        }

        @Export
        int sum(int... values) {
            int sum = 0;
            for (int value : values) {
                sum += value;
            }
            return sum;
        }

        @Export
        long total(Range[] ranges, int scale) {
            long total = 0;
            for (Range range : ranges) {
                total += range.offset() * range.length();
            }
            return total * scale;
        }

        @Export
        String join(String[] parts) {
            return String.join("+", parts);
        }

        @Export
        int isNull(@Nullable Object object) {
            return object == null ? 1 : 0;
        }

        @Export
        @Nullable
        String nothing() {
            return null;
        }

        @Export("overloaded")
        int overloadedInt(int i) {
            return i;
        }

        @Export("overloaded")
        long overloadedLong(long l) {
            return l;
        }
    }

    private static final VmModule TYPES = JavaModule.of(new Types());

    private final ModuleCalls calls = new ModuleCalls(TYPES);

    private static VmBuffer bytes(int... values) {
        MemorySegment segment = MemorySegment.ofArray(new byte[values.length]);
        for (int i = 0; i < values.length; i++) {
            segment.set(ValueLayout.JAVA_BYTE, i, (byte) values[i]);
        }
        return VmBuffer.wrap(segment, true, null);
    }

    @Test
    void primitivesAreArgumentsAndARecordIsResults() {
        assertThat(calls.call("mix", "0iIfFi_FfIii", 1, 2L, 3f, 4.0, 0)).containsExactly(-4.0, -3f, -2L, -1, 1);
    }

    @Test
    void bytesAndShortsAreNarrowed() {
        assertThat(calls.<Integer>one("narrow", "0ii_i", 0x101, 2)).isEqualTo(3);
    }

    @Test
    void textsAreBuffers() {
        VmBuffer greeting = calls.one("greet", "0r_r", VmBuffer.ofUtf8("wörld"));
        assertThat(greeting.utf8()).isEqualTo("hello wörld");
    }

    @Test
    void bytesAreCopied() {
        VmBuffer input = bytes(1, 2, 3);
        VmBuffer reversed = calls.one("reverse", "0r_r", input);
        assertThat(reversed.segment().toArray(ValueLayout.JAVA_BYTE)).containsExactly(3, 2, 1);
        assertThat(input.segment().toArray(ValueLayout.JAVA_BYTE)).containsExactly(1, 2, 3);
    }

    @Test
    void memoryIsNotCopied() {
        VmBuffer input = bytes(41);
        calls.call("increment", "0r_v", input);
        assertThat(input.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 42);
    }

    @Test
    void listsOfTextsAreConvertedByElement() {
        try (VmList list = VmList.ofVariants(2)) {
            list.push(VmBuffer.ofUtf8("b"));
            list.push(VmBuffer.ofUtf8("a"));
            try (VmList sorted = calls.one("sorted", "0r_r", list)) {
                assertThat(sorted.size()).isEqualTo(2);
                assertThat(((VmBuffer) Objects.requireNonNull(sorted.get(0))).utf8())
                        .isEqualTo("a");
            }
        }
    }

    @Test
    void listsOfNumbersAreBoxed() {
        try (VmList list = VmList.ofVariants(2)) {
            list.push(1); // an i32 where longs are expected
            list.push(2L);
            try (VmList result = calls.one("boxed", "0r_r", list)) {
                assertThat(List.of(
                                Objects.requireNonNull(result.get(0)),
                                Objects.requireNonNull(result.get(1)),
                                Objects.requireNonNull(result.get(2))))
                        .containsExactly(2L, 3L, 0.5f);
                assertThat(((VmBuffer) Objects.requireNonNull(result.get(3))).utf8())
                        .isEqualTo("end");
            }
        }
    }

    @Test
    void anElementOfAnotherKindIsRefused() {
        try (VmList list = VmList.ofVariants(1)) {
            list.push(1.5);
            assertThat(calls.failure(StatusCode.INVALID_ARGUMENT, "boxed", "0r_r", list))
                    .hasMessageContaining("argument 'numbers' of 'types.boxed'");
        }
    }

    @Test
    void arraysAreVariadic() {
        assertThat(calls.<Integer>one("sum", "0CiD_i", List.of(List.of(1), List.of(2), List.of(39))))
                .isEqualTo(42);
        assertThat(calls.<Integer>one("sum", "0CiD_i", List.of())).isZero();
    }

    @Test
    void arraysOfRecordsAreVariadicTuples() {
        assertThat(calls.<Long>one("total", "0CIiDi_I", List.of(List.of(2L, 3), List.of(4L, 5)), 10))
                .isEqualTo(260);
    }

    @Test
    void arraysOfReferencesAreVariadic() {
        VmBuffer joined =
                calls.one("join", "0CrD_r", List.of(List.of(VmBuffer.ofUtf8("a")), List.of(VmBuffer.ofUtf8("b"))));
        assertThat(joined.utf8()).isEqualTo("a+b");
    }

    @Test
    void nullNeedsANullableParameter() {
        assertThat(calls.<Integer>one("isNull", "0r_i", ModuleCalls.NULL)).isEqualTo(1);
        assertThat(calls.failure(StatusCode.INVALID_ARGUMENT, "greet", "0r_r", ModuleCalls.NULL))
                .hasMessageContaining("argument 'name' of 'types.greet' (String Types.greet(String)) is null");
        assertThat(calls.<Object>one("nothing", "0v_r")).isNull();
    }

    @Test
    void functionsWithTheSameNameDifferByConvention() {
        assertThat(calls.<Integer>one("overloaded", "0i_i", 5)).isEqualTo(5);
        assertThat(calls.<Long>one("overloaded", "0I_I", 5L)).isEqualTo(5);
    }

    @Test
    void nameAndVersionComeFromTheAnnotation() {
        assertThat(TYPES.name()).isEqualTo("types");
        assertThat(TYPES.version()).isEqualTo(3);
        assertThat(Objects.requireNonNull(TYPES.resolve("greet", "")).declaration())
                .isEqualTo("String Types.greet(String)");
    }

    // -- failures

    @IreeModule("failing")
    static final class Failing {
        @Export
        void fail(String what) throws Exception {
            throw switch (what) {
                case "argument" -> new IllegalArgumentException("as asked");
                case "index" -> new IndexOutOfBoundsException("as asked");
                case "state" -> new IllegalStateException("as asked");
                case "unsupported" -> new UnsupportedOperationException("as asked");
                case "missing" -> new java.util.NoSuchElementException("as asked");
                case "file" -> new java.nio.file.NoSuchFileException("as asked");
                case "late" -> new TimeoutException("as asked");
                case "null" -> new NullPointerException("as asked");
                case "io" -> new IOException("as asked");
                case "status" -> IreeException.of(StatusCode.DATA_LOSS, "as asked");
                default -> throw new AssertionError(what);
            };
        }

        @Export
        int endless() {
            return endless() + 1;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "argument, INVALID_ARGUMENT",
        "index, OUT_OF_RANGE",
        "state, FAILED_PRECONDITION",
        "unsupported, UNIMPLEMENTED",
        "missing, NOT_FOUND",
        "file, NOT_FOUND",
        "late, DEADLINE_EXCEEDED",
        "null, INTERNAL",
        "io, INTERNAL",
        "status, DATA_LOSS"
    })
    void exceptionsBecomeStatusesNamingTheMethod(String what, StatusCode code) {
        try (ModuleCalls failing = new ModuleCalls(JavaModule.of(new Failing()))) {
            IreeException failure = failing.failure(code, "fail", "0r_v", VmBuffer.ofUtf8(what));
            assertThat(failure)
                    .hasMessageContaining("as asked")
                    .hasMessageContaining("'failing.fail' (void Failing.fail(String))");
            assertThat(failure.getCause()).isNotNull();
        }
    }

    @Test
    void endlessRecursionOfAMethodFailsTheCall() {
        try (ModuleCalls failing = new ModuleCalls(JavaModule.of(new Failing()))) {
            failing.failure(StatusCode.RESOURCE_EXHAUSTED, "endless", "0v_i");
        }
    }

    // -- ownership of objects

    static final AtomicInteger CLOSED = new AtomicInteger();

    @IreeModule("counter")
    static final class Counter implements AutoCloseable {
        private int value;

        @Export
        int next() {
            return ++value;
        }

        @Override
        public void close() {
            CLOSED.incrementAndGet();
        }
    }

    private static int next(Context context) {
        try (Invocation call = context.invocation(Objects.requireNonNull(context.function("counter.next")))) {
            call.run();
            return call.i32();
        }
    }

    @Test
    void eachContextHasASeparateObjectClosedWithIt() {
        CLOSED.set(0);
        JavaModule module = JavaModule.of(Counter.class, Counter::new);
        try (Context a = Context.create(List.of(module), ContextOptions.DEFAULTS);
                Context b = Context.create(List.of(module), ContextOptions.DEFAULTS)) {
            assertThat(next(a)).isEqualTo(1);
            assertThat(next(a)).isEqualTo(2);
            assertThat(next(b)).isEqualTo(1);
        }
        assertThat(CLOSED).hasValue(2);
    }

    @Test
    void allContextsShareAGivenObjectAndLeaveItOpen() {
        CLOSED.set(0);
        JavaModule module = JavaModule.of(new Counter());
        try (Context a = Context.create(List.of(module), ContextOptions.DEFAULTS);
                Context b = Context.create(List.of(module), ContextOptions.DEFAULTS)) {
            assertThat(next(a)).isEqualTo(1);
            assertThat(next(b)).isEqualTo(2);
        }
        assertThat(CLOSED).hasValue(0);
    }

    // -- classes unfit to be modules

    static final class Unannotated {}

    @IreeModule("empty")
    static final class Empty {}

    @IreeModule("has.dot")
    static final class Dotted {
        @Export
        void f() {}
    }

    @IreeModule("twice")
    static final class Twice {
        @Export("f")
        void a(String s) {}

        @Export("f")
        void b(List<String> s) {}
    }

    @IreeModule("chars")
    static final class Chars {
        @Export
        void f(char c) {}
    }

    @Test
    void classesUnfitToBeModulesAreRefusedWithAReason() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JavaModule.of(new Unannotated()))
                .withMessageContaining("not annotated @IreeModule");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JavaModule.of(new Empty()))
                .withMessageContaining("no method annotated @Export");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JavaModule.of(new Dotted()))
                .withMessageContaining("'has.dot'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JavaModule.of(new Twice()))
                .withMessageContaining("'twice.f'")
                .withMessageContaining("is declared twice");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JavaModule.of(new Chars()))
                .withMessageContaining("argument 'c' of 'chars.f'")
                .withMessageContaining("'char'");
    }

    @Test
    void aMethodOfASubclassReplacesTheOverriddenMethod() {
        try (ModuleCalls loud = new ModuleCalls(JavaModule.of(new Types2()))) {
            assertThat(((VmBuffer) Objects.requireNonNull(loud.one("greet", "0r_r", VmBuffer.ofUtf8("you")))).utf8())
                    .isEqualTo("HELLO you");
        }
    }

    @IreeModule("types")
    static class Base {
        @Export
        String greet(String name) {
            return "hello " + name;
        }
    }

    static final class Types2 extends Base {
        @Override
        String greet(String name) { // not annotated again, as in proxies made by frameworks
            return "HELLO " + name;
        }
    }

    @Test
    void aFailureOfTheObjectsFactoryFailsTheContext() {
        JavaModule module = JavaModule.of(Counter.class, () -> {
            throw IreeException.of(StatusCode.UNAVAILABLE, "no counter today");
        });
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Context.create(List.of(module), ContextOptions.DEFAULTS))
                .withMessageContaining("no counter today");
    }
}
