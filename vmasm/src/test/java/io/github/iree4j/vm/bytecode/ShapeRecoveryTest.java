package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.BitSet;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Proofs of code about shapes: facts on every way to a return, and nothing else. */
class ShapeRecoveryTest {
    private static final String HEAD = """
            vm.type i32
            vm.type i64
            vm.type !vm.buffer
            vm.import @hal.buffer_view.assert cconv "0rriiCID_v"
            vm.import @hal.buffer_view.create cconv "0rIIiiCID_r"
            vm.import @hal.buffer_view.dim cconv "0ri_I"
            vm.import @hal.other.assert cconv "0rriiCID_v"
            vm.export @f
            """;

    /** Constants: i0 a condition, i1 an element type, i2 another, i3 zero, i4:5 four, i6:7 eight; r0 and r1 arguments, r2 null. */
    private static final String F = """
            vm.func @f(%r0: !vm.ref<?>, %r1: !vm.ref<?>, %i0: i32) -> (!vm.ref<?>) {
            ^bb0:
              %r2 = vm.const.ref.zero
              %i1 = vm.const.i32 553648160
              %i2 = vm.const.i32 268435488
              %i3 = vm.const.i32.zero
              %i4:5 = vm.const.i64 4
              %i6:7 = vm.const.i64 8
            """;

    private static String check(String view, String type, String... dimensions) {
        return "  vm.call.variadic @hal.buffer_view.assert segments[65535, 65535, 65535, 65535, %d](%s, %%r2, %s, %%i3%s)\n"
                .formatted(dimensions.length, view, type, list(dimensions));
    }

    private static String create(String result, String type, String... dimensions) {
        return "  %s = vm.call.variadic @hal.buffer_view.create segments[65535, 65535, 65535, 65535, 65535, %d](%%r2, %%i4, %%i4, %s, %%i3%s)\n"
                .formatted(result, dimensions.length, type, list(dimensions));
    }

    private static String list(String... dimensions) {
        return IntStream.range(0, dimensions.length)
                .mapToObj(i -> ", " + dimensions[i])
                .collect(Collectors.joining());
    }

    private static ProvenShapes proven(String text) {
        try (BytecodeModule module = Programs.module("m", text)) {
            int f = Objects.requireNonNull(module.resolve("f", "")).ordinal();
            BitSet chosen = new BitSet();
            chosen.set(f);
            return Objects.requireNonNull(
                    module.provenShapes(chosen, Set.of("hal.buffer_view")).get(f));
        }
    }

    private static ProvenShapes ofBody(String body) {
        return proven(HEAD + F + body + "}\n");
    }

    private static ProvenShape f32(long... dimensions) {
        return new ProvenShape(
                0x21000020,
                IntStream.range(0, dimensions.length)
                        .mapToObj(i -> dimensions[i])
                        .toList());
    }

    private static final String DIMENSION = "  %i8:9 = vm.call @hal.buffer_view.dim(%r0, %i3)\n";

    @Test
    void checksOfArgumentsAndCreatedViewsAreProven() {
        ProvenShapes proven = ofBody(DIMENSION
                + check("%r0", "%i1", "%i8", "%i4")
                + create("%r3", "%i1", "%i8", "%i6")
                + "  vm.return %r3\n");
        assertThat(proven.argument(0)).isEqualTo(f32(-1, 4));
        assertThat(proven.argument(1)).isNull();
        assertThat(proven.argument(2)).isNull();
        assertThat(proven.result(0)).isEqualTo(f32(-1, 8));
    }

    @Test
    void aScalarHasNoDimensions() {
        assertThat(ofBody(check("%r1", "%i1") + "  vm.return %r2\n").argument(1))
                .isEqualTo(f32());
    }

    @Test
    void aReturnedArgumentIsAsChecked() {
        ProvenShapes proven = ofBody(check("%r1", "%i1", "%i4") + "  %r3 = vm.assign.ref %R1\n  vm.return %R3\n");
        assertThat(proven.result(0)).isEqualTo(f32(4));
    }

    @Test
    void aDimensionOfAnArgumentIsItsCheckedConstant() {
        ProvenShapes proven = ofBody(
                DIMENSION + check("%r0", "%i1", "%i6") + create("%r3", "%i1", "%i8", "%i4") + "  vm.return %r3\n");
        assertThat(proven.result(0)).isEqualTo(f32(8, 4));
    }

    @Test
    void aCheckOnASingleWayProvesNothing() {
        ProvenShapes proven = ofBody("  vm.cond_br %i0, ^bb1(), ^bb2()\n^bb1:\n"
                + check("%r0", "%i1", "%i4")
                + "  vm.br ^bb2()\n^bb2:\n"
                + "  vm.return %r2\n");
        assertThat(proven.argument(0)).isNull();
    }

    @Test
    void aFailingWayNeedsNoCheck() {
        ProvenShapes proven = ofBody("  vm.cond_br %i0, ^bb1(), ^bb2()\n^bb1:\n"
                + check("%r0", "%i1", "%i4")
                + "  vm.return %r2\n^bb2:\n  vm.fail %i1, \"no\"\n");
        assertThat(proven.argument(0)).isEqualTo(f32(4));
    }

    @Test
    void ofChecksOnDifferentWaysOnlyTheCommonPartIsProven() {
        String other = "  vm.cond_br %i0, ^bb1(), ^bb2()\n^bb1:\n"
                + check("%r0", "%i1", "%i4", "%i4")
                + "  vm.return %r2\n^bb2:\n";
        String end = "  vm.return %r2\n";
        assertThat(ofBody(other + check("%r0", "%i1", "%i6", "%i4") + end).argument(0))
                .isEqualTo(f32(-1, 4));
        assertThat(ofBody(other + check("%r0", "%i1", "%i4") + end).argument(0)).isNull();
        assertThat(ofBody(other + check("%r0", "%i2", "%i4", "%i4") + end).argument(0))
                .isNull();
    }

    @Test
    void ofResultsOnDifferentWaysOnlyTheCommonPartIsProven() {
        String either = create("%r3", "%i1", "%i4", "%i4")
                + "  vm.cond_br %i0, ^bb1(), ^bb2()\n^bb1:\n  vm.return %r3\n^bb2:\n";
        assertThat(ofBody(either + create("%r4", "%i1", "%i4", "%i6") + "  vm.return %r4\n")
                        .result(0))
                .isEqualTo(f32(4, -1));
        assertThat(ofBody(either + "  vm.return %r2\n").result(0)).isNull();
        assertThat(ofBody(either + "  vm.return %r0\n").result(0)).isNull();
    }

    @Test
    void changesByALoopAreNotProven() {
        String loop = "  vm.br ^bb1(%i4->%i8, %i5->%i9)\n^bb1:\n"
                + create("%r3", "%i1", "%i8", "%i4")
                + "  %i8:9 = vm.add.i64 %i8:9, %i4:5\n"
                + "  vm.cond_br %i0, ^bb1(), ^bb2()\n^bb2:\n  vm.return %r3\n";
        assertThat(ofBody(loop).result(0)).isEqualTo(f32(-1, 4));
    }

    @Test
    void copiesOnBranchesAreFollowed() {
        ProvenShapes proven = ofBody("  vm.br ^bb1(%r0->%r3, %R1->%r0, %i4->%i8, %i5->%i9)\n^bb1:\n"
                + check("%r3", "%i1", "%i8")
                + check("%r0", "%i1", "%i6")
                + "  vm.return %r2\n");
        assertThat(proven.argument(0)).isEqualTo(f32(4));
        assertThat(proven.argument(1)).isEqualTo(f32(8));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "  %i4 = vm.const.i32 1\n", // overwrites the lower word
                "  %i5 = vm.const.i32 1\n", // the upper
                "  %i4:5 = vm.add.i64 %i4:5, %i6:7\n",
                "  vm.br ^bb1(%i3->%i5)\n^bb1:\n",
                "  vm.br ^bb1(%i7->%i5)\n^bb1:\n"
            })
    void anOverwrittenConstantIsForgotten(String change) {
        assertThat(ofBody(change + check("%r0", "%i1", "%i4", "%i6") + "  vm.return %r2\n")
                        .argument(0))
                .isEqualTo(f32(-1, 8));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "  %r0 = vm.const.ref.zero\n", // another object
                "  %r0 = vm.select.ref %i0 ? %r0 : %r1 -> !vm.buffer\n", // perhaps
                "  vm.discard.refs %r0\n"
            })
    void aCheckOfAnotherObjectProvesNothing(String change) {
        assertThat(ofBody(change + check("%r0", "%i1", "%i4") + "  vm.return %r2\n")
                        .argument(0))
                .isNull();
    }

    @Test
    void selectionsOfTheSameAreFollowed() {
        ProvenShapes proven = ofBody("  %i8:9 = vm.select.i64 %i0 ? %i4:5 : %i4:5\n"
                + "  %r3 = vm.select.ref %i0 ? %r0 : %r0 -> !vm.buffer\n"
                + check("%r3", "%i1", "%i8")
                + "  vm.return %r2\n");
        assertThat(proven.argument(0)).isEqualTo(f32(4));
    }

    @Test
    void importsOfOtherNamesProveNothing() {
        String check = check("%r0", "%i1", "%i4").replace("hal.buffer_view", "hal.other");
        assertThat(ofBody(check + "  vm.return %r2\n").argument(0)).isNull();
    }

    @Test
    void anUnknownElementTypeOrANegativeDimensionProvesNothing() {
        assertThat(ofBody(check("%r0", "%i0", "%i4") + "  vm.return %r2\n").argument(0))
                .isNull();
        String negative = "  %i4:5 = vm.const.i64 -2\n";
        assertThat(ofBody(negative + check("%r0", "%i1", "%i4") + "  vm.return %r2\n")
                        .argument(0))
                .isNull();
    }

    // ---- Calls of other functions.

    private static final String HELPER = """
            vm.func @helper(%r0: !vm.ref<?>, %i0:1: i64) -> (!vm.ref<?>, i64) {
            ^bb0:
              %r2 = vm.const.ref.zero
              %i2 = vm.const.i32 553648160
              %i3 = vm.const.i32.zero
              %i4:5 = vm.call @hal.buffer_view.dim(%r0, %i3)
            """
            + check("%r0", "%i2", "%i4", "%i0")
            + "  %r3 = vm.call.variadic @hal.buffer_view.create segments[65535, 65535, 65535, 65535, 65535, 2](%r2, %i4, %i4, %i2, %i3, %i4, %i0)\n"
            + "  vm.return %r3, %i4\n}\n";

    @Test
    void proofsOfACalledFunctionHoldAfterTheCall() {
        ProvenShapes proven = proven(HEAD
                + F
                + "  %r3, %i8:9 = vm.call @helper(%r1, %i6)\n"
                + check("%r0", "%i1", "%i8")
                + check("%r1", "%i1", "%i4", "%i8")
                + "  vm.return %r3\n}\n"
                + HELPER);
        assertThat(proven.argument(1)).isEqualTo(f32(4, 8));
        assertThat(proven.argument(0)).isEqualTo(f32(4));
        assertThat(proven.result(0)).isEqualTo(f32(4, 8));
    }

    @Test
    void aCalledFunctionIsFollowedIntoAViewCreatedByTheCaller() {
        ProvenShapes proven = proven(HEAD
                + F
                + create("%r4", "%i1", "%i4", "%i4")
                + "  %r3, %i8:9 = vm.call @helper(%r4, %i6)\n"
                + "  vm.return %r3\n}\n"
                + HELPER);
        assertThat(proven.result(0)).isEqualTo(f32(4, 8));
    }

    @Test
    void recursionProvesNothing() {
        String body = check("%r0", "%i1", "%i4") + "  %r3 = vm.call @f(%r1, %r0, %i0)\n  vm.return %r3\n";
        ProvenShapes proven = ofBody(body);
        assertThat(proven.argument(0)).isEqualTo(f32(4));
        assertThat(proven.argument(1)).isNull();
        assertThat(proven.result(0)).isNull();
    }

    // ---- Limits.

    @Test
    void aFunctionNeverReturningProvesNothing() {
        assertThat(ofBody(check("%r0", "%i1", "%i4") + "  vm.fail %i1, \"no\"\n")
                        .argument(0))
                .isNull();
    }

    @Test
    @Timeout(30)
    void manyBlocksAndRegistersEndInTime() {
        StringBuilder text = new StringBuilder(check("%r0", "%i1", "%i4"));
        int blocks = 900; // more would be skipped at once
        for (int i = 1; i < blocks; i++) { // each may go back to all earlier blocks
            text.append("  %%i%d:%d = vm.add.i64 %%i4:5, %%i6:7\n".formatted(2 * i + 10, 2 * i + 11));
            text.append("  vm.cond_br %%i0, ^bb%d(), ^bb%d()\n^bb%d:\n".formatted(i, Math.max(1, i / 2), i));
        }
        text.append("  vm.return %r2\n");
        long start = System.nanoTime();
        assertThat(ofBody(text.toString()).argument(0)).isNull();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
    }

    @Test
    void aLongChainOfCallsIsFollowedOnlySoFar() {
        StringBuilder text = new StringBuilder(HEAD);
        int functions = 20_000;
        for (int i = 0; i < functions; i++) {
            text.append("vm.func @%s(%%r0: !vm.ref<?>) -> () {\n^bb0:\n".formatted(i == 0 ? "f" : "f" + i));
            text.append(
                    i < functions - 1 ? "  vm.call @f%d(%%r0)\n  vm.return\n}\n".formatted(i + 1) : "  vm.return\n}\n");
        }
        assertThat(proven(text.toString()).argument(0)).isNull();
    }
}
