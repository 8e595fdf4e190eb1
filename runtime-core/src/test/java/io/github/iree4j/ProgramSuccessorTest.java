package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Holders of a replaced program call its successor. */
@Timeout(300)
class ProgramSuccessorTest {
    private final IreeRuntime runtime = IreeRuntime.create();

    @AfterEach
    void nothingIsLeft() {
        runtime.close();
        LeakCheck.assertNone(runtime);
    }

    /** A program with a function {@code number} that returns this number plus its argument. */
    private Program numbered(int number) {
        return runtime.load(ProgramOptions.builder()
                .module(NativeModule.builder("numbers", 1, Object::new)
                        .function("number", "0i_i", (state, call) -> call.returnI32(number + call.i32()))
                        .build())
                .build());
    }

    private static int call(ProgramFunction function, int argument) {
        try (Results results = function.invoke(argument)) {
            return results.intValue(0);
        }
    }

    /** Bound to a program. */
    interface Numbers {
        int number(int argument);
    }

    @Test
    void callsGoToTheLastProgramOfTheLine() throws Exception {
        Program held = numbered(100);
        ProgramFunction function = held.function("number");
        Numbers bound = held.bind(Numbers.class);
        Program now = held;
        for (int number = 200; number <= 400; number += 100) {
            Program next = numbered(number);
            now.retire(next);
            now = next;
            assertThat(call(held.function("number"), 1)).isEqualTo(number + 1);
            assertThat(call(held.function("numbers.number"), 1)).isEqualTo(number + 1);
            assertThat(call(function, 2)).isEqualTo(number + 2);
            assertThat(bound.number(3)).isEqualTo(number + 3);
            try (Results results = function.invokeAsync(4).join()) {
                assertThat(results.intValue(0)).isEqualTo(number + 4);
            }
            try (Program again = held.newInstance()) {
                assertThat(call(again.function("number"), 5)).isEqualTo(number + 5);
            }
            held.upload(ElementType.F32, Shape.of(4), memory -> memory.fill((byte) 0))
                    .close();
            assertThat(held.isClosed()).isTrue();
            assertThat(next.isClosed()).isFalse();
        }
        now.close();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> function.invoke(1))
                .withMessageContaining("program 'numbers' is closed")
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.FAILED_PRECONDITION);
    }

    @Test
    void aRetiredProgramRefusesCallsWithItsReasonUntilItHasASuccessor() {
        Program held = numbered(1);
        ProgramFunction function = held.function("number");
        held.retire(IreeException.of(StatusCode.NOT_FOUND, "program 'numbers' was unloaded"));
        held.close();
        for (ThrowingCallable use : List.<ThrowingCallable>of(
                () -> function.invoke(0),
                () -> function.invokeAsync(0),
                () -> held.receive(ElementType.F32, Shape.of(4), memory -> memory.fill((byte) 0)))) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(use)
                    .withMessage("program 'numbers' was unloaded")
                    .extracting(IreeException::code)
                    .isEqualTo(StatusCode.NOT_FOUND);
        }
        try (Program next = numbered(2)) {
            held.retire(next);
            assertThat(call(function, 0)).isEqualTo(2);
        }
    }

    @Test
    void aClosedProgramGetsASuccessorAndKeepsIt() {
        Program held = numbered(1);
        ProgramFunction function = held.function("number");
        held.close();
        assertThatExceptionOfType(IreeException.class).isThrownBy(() -> function.invoke(0));
        try (Program next = numbered(2);
                Program other = numbered(3)) {
            held.retire(next);
            held.retire(other);
            assertThat(call(function, 0)).isEqualTo(2);
            assertThat(call(other.function("number"), 0)).isEqualTo(3);
        }
    }

    @Test
    void twoProgramsHaveTheSameSuccessorReplacedInTurn() {
        Program one = numbered(1);
        Program two = numbered(2);
        Program three = numbered(3);
        one.retire(three);
        two.retire(three);
        try (Program four = numbered(4)) {
            three.retire(four);
            for (Program each : List.of(one, two, three, four)) {
                assertThat(call(each.function("number"), 0)).isEqualTo(4);
            }
        }
    }

    @Test
    void programsRetiringInFavourOfEachOtherAreClosed() {
        Program one = numbered(1);
        Program two = numbered(2);
        ProgramFunction function = one.function("number");
        one.retire(two);
        two.retire(one);
        Program three = numbered(3);
        three.retire(three);
        for (ProgramFunction each : List.of(function, two.function("number"), three.function("number"))) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> each.invoke(1))
                    .withMessageContaining("is closed");
        }
    }

    @Test
    void aCallFailingByItselfIsNotMadeAgain() {
        AtomicInteger calls = new AtomicInteger();
        Program[] programs = new Program[2];
        NativeModule module = NativeModule.builder("faults", 1, Object::new)
                .function("fail", "0_i", (state, call) -> {
                    calls.incrementAndGet();
                    programs[0].retire(programs[1]);
                    throw IreeException.of(StatusCode.FAILED_PRECONDITION, "of itself");
                })
                .build();
        programs[0] = runtime.load(ProgramOptions.builder().module(module).build());
        programs[1] = runtime.load(ProgramOptions.builder().module(module).build());
        ProgramFunction fail = programs[0].function("fail");
        assertThatExceptionOfType(IreeException.class).isThrownBy(fail::invoke).withMessageContaining("of itself");
        assertThat(calls).hasValue(1);
        programs[1].close();
    }

    @Test
    void variantsAreChosenAmongTheSuccessors() {
        ProgramOptions options = ProgramOptions.builder()
                .module(Fixtures.file("3.13.0/cpu/variants.vmfb"))
                .parameters("model", Fixtures.file("scale_weights.irpa"))
                .build();
        Program held = runtime.load(options);
        ProgramFunction encode = held.function("encode");
        try (Program next = runtime.load(options);
                Tensor words = Tensor.of(new float[6], 2, 3);
                Tensor mask = Tensor.of(new int[6], 2, 3)) {
            held.retire(next);
            try (Results results = encode.invoke(words, mask)) {
                assertThat(results.tensor(0).shape()).isEqualTo(Shape.of(2, 3));
            }
        }
    }

    @Test
    void noCallIsLostWhileProgramsReplaceEachOther() throws Exception {
        Program held = numbered(0);
        ProgramFunction function = held.function("number");
        AtomicBoolean over = new AtomicBoolean();
        List<Future<Integer>> callers = new ArrayList<>();
        Program now = held;
        try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
            for (int i = 0; i < 3; i++) {
                int kind = i;
                callers.add(threads.submit(() -> {
                    int last = 0;
                    while (!over.get()) {
                        CompletableFuture<Results> call = kind == 0
                                ? function.invokeAsync(0)
                                : CompletableFuture.completedFuture(
                                        (kind == 1 ? function : held.function("number")).invoke(0));
                        try (Results results = call.join()) {
                            assertThat(results.intValue(0)).isGreaterThanOrEqualTo(last);
                            last = results.intValue(0);
                        }
                    }
                    return last;
                }));
            }
            for (int number = 1; number <= Effort.rounds(50); number++) {
                Program next = numbered(number);
                now.retire(next);
                now = next;
            }
            over.set(true);
            for (Future<Integer> each : callers) {
                each.get();
            }
        }
        now.close();
    }

    @Test
    void programsInBetweenAreNotKept() {
        Program held = numbered(0);
        List<WeakReference<Program>> between = new ArrayList<>();
        try (Program last = replaceOften(held, between)) {
            while (between.stream().anyMatch(each -> each.get() != null)) {
                System.gc();
            }
            assertThat(call(held.function("number"), 0)).isEqualTo(10);
            assertThat(call(last.function("number"), 0)).isEqualTo(10);
        }
    }

    private Program replaceOften(Program held, List<WeakReference<Program>> between) {
        Program now = held;
        for (int number = 1; number <= 10; number++) {
            Program next = numbered(number);
            now.retire(next);
            now = next;
            if (number < 10) {
                between.add(new WeakReference<>(next));
            }
        }
        return now;
    }
}
