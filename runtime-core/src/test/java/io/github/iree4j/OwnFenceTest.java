package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Submitted calls, each with a separate fence. */
@Timeout(300)
class OwnFenceTest {
    private final IreeRuntime runtime = IreeRuntime.create();
    private final AtomicInteger ran = new AtomicInteger();
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);

    @AfterEach
    void nothingIsLeft() {
        go.countDown();
        runtime.close();
        LeakCheck.assertNone(runtime);
    }

    /** Adds 1 to the number in a buffer: by work of the device after the fence, or by work of the host. */
    private Program program(String name) {
        return runtime.load(ProgramOptions.builder()
                .name(name)
                .module(NativeModule.builder("m", 1, Object::new)
                        .function("later", "0rrr_r", (s, c) -> later(c))
                        .attribute("iree.abi.declaration", "async func @later(%x: !hal.buffer) -> (!hal.buffer)")
                        .attribute("iree.abi.model", "coarse-fences")
                        .function("now", "0r_r", (s, c) -> now(c))
                        .attribute("iree.abi.declaration", "sync func @now(%x: !hal.buffer) -> (!hal.buffer)")
                        .function("fail", "0v_v", (s, c) -> {
                            throw IreeException.of(StatusCode.DATA_LOSS, "the root cause");
                        })
                        .function("stay", "0v_v", (s, c) -> stay())
                        .build())
                .build());
    }

    private void later(VmCall call) {
        Buffer x = call.required(Buffer.class);
        runtime.device().queue(0).hostCall(call.ref(Fence.class), call.required(Fence.class), () -> add(x), 0);
        x.retain();
        call.returnRef(x);
    }

    private void now(VmCall call) {
        Buffer x = call.required(Buffer.class);
        add(x);
        x.retain();
        call.returnRef(x);
    }

    private void add(Buffer x) {
        ran.incrementAndGet();
        var number = x.map(MemoryAccess.READ | MemoryAccess.WRITE, 0, 4);
        number.set(ValueLayout.JAVA_INT, 0, number.get(ValueLayout.JAVA_INT, 0) + 1);
    }

    private void stay() {
        entered.countDown();
        try {
            go.await();
        } catch (InterruptedException e) {
            throw IreeException.of(StatusCode.CANCELLED, "interrupted inside", e);
        }
    }

    private Tensor zero() {
        try (Tensor tensor = Tensor.of(new int[] {0}, 1)) {
            return runtime.upload(tensor);
        }
    }

    private static void assertFails(StatusCode code, String message, ThrowingCallable call) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(call)
                .withMessageContaining(message)
                .satisfies(e -> assertThat(e.code()).isEqualTo(code));
    }

    @Test
    void severalProgramsAreSubmittedBeforeTheWorkOfTheFirstBegins() {
        try (Program encoder = program("encoder");
                Program decoder = program("decoder");
                Program writer = program("writer");
                Fence uploaded = runtime.createFence("uploaded");
                Tensor x = zero()) {
            Submission<Results> encoded = encoder.function("later").submit(CallOptions.DEFAULTS.after(uploaded), x);
            Submission<Results> decoded;
            Submission<Results> written;
            try (Results states = encoded.results().await()) {
                decoded = decoder.function("later").submit(CallOptions.DEFAULTS.after(encoded.fence()), states.get(0));
                try (Results text = decoded.results().await()) {
                    written = writer.function("now").submit(CallOptions.DEFAULTS.after(decoded.fence()), text.get(0));
                }
            }
            assertThat(ran).hasValue(0);
            assertThat(written.results()).isNotDone();

            uploaded.signal();
            written.await().close();
            assertThat(x.toIntArray()).containsExactly(3);
            assertThat(encoded.fence().isReached()).isTrue();
            assertThat(decoded.fence().isReached()).isTrue();
        }
    }

    @Test
    void callsAfterSeveralSubmissionsJoinTheFences() {
        try (Program program = program("p");
                Tensor x = zero();
                Tensor y = zero()) {
            Submission<Results> first = program.function("later").submit(CallOptions.DEFAULTS, x);
            Submission<Results> second = program.function("later").submit(CallOptions.DEFAULTS, y);
            try (Fence both = Fence.join(first.fence(), second.fence())) {
                program.function("later")
                        .submit(CallOptions.DEFAULTS.after(both), y)
                        .await()
                        .close();
            }
            first.await().close();
            second.await().close();
            assertThat(y.toIntArray()).containsExactly(2);
        }
    }

    @Test
    void aFailureFailsTheFenceAndLaterCallsWithTheRootCause() {
        try (Program program = program("p");
                Tensor x = zero()) {
            Submission<Results> failed = program.function("fail").submit(CallOptions.DEFAULTS);
            Submission<Results> next = program.function("later").submit(CallOptions.DEFAULTS.after(failed.fence()), x);
            Submission<Results> last = program.function("now").submit(CallOptions.DEFAULTS.after(next.fence()), x);
            assertFails(StatusCode.DATA_LOSS, "the root cause", failed::await);
            assertFails(
                    StatusCode.DATA_LOSS, "the root cause", () -> failed.fence().await());
            assertFails(StatusCode.DATA_LOSS, "the root cause", next::await);
            assertFails(StatusCode.DATA_LOSS, "the root cause", last::await);
            assertThat(ran).hasValue(0);
        }
    }

    @Test
    void aCancelledCallFailsItsFence() throws Exception {
        try (Program program = program("p");
                Fence never = runtime.createFence("never")) {
            Submission<Results> held = program.function("stay").submit(CallOptions.DEFAULTS.after(never));
            held.results().cancel(true);
            assertFails(StatusCode.CANCELLED, "cancelled", () -> held.fence().await());

            Submission<Results> running = program.function("stay").submit(CallOptions.DEFAULTS);
            entered.await();
            running.results().cancel(true);
            assertFails(StatusCode.CANCELLED, "cancelled", () -> running.fence().await());
        }
    }

    @Test
    void aLateCallFailsItsFence() {
        try (Program program = program("p");
                Fence never = runtime.createFence("never")) {
            Submission<Results> late = program.function("stay")
                    .submit(CallOptions.DEFAULTS.after(never).timeout(Duration.ofMillis(1)));
            assertFails(StatusCode.DEADLINE_EXCEEDED, "'p.stay'", late::await);
            assertFails(
                    StatusCode.DEADLINE_EXCEEDED, "'p.stay'", () -> late.fence().await());
        }
    }

    @Test
    void closingTheProgramFailsTheFencesOfCallsNotBegun() {
        try (Fence never = runtime.createFence("never");
                Tensor x = zero()) {
            Program program = program("p");
            Submission<Results> first = program.function("now").submit(CallOptions.DEFAULTS.after(never), x);
            Submission<Results> second = program.function("later").submit(CallOptions.DEFAULTS.after(first.fence()), x);
            program.close();
            assertFails(StatusCode.CANCELLED, "", () -> first.fence().await());
            assertFails(StatusCode.CANCELLED, "", () -> second.fence().await());
            assertFails(StatusCode.CANCELLED, "", second::await); // and closes results known ahead
            assertThat(ran).hasValue(0);
        }
    }

    @Test
    void resultsOfFailingWorkAreClosedForTheWaitingCaller() {
        try (Program program = program("p");
                Fence event = runtime.createFence("event");
                Tensor x = zero()) {
            Submission<Results> call = program.function("later").submit(CallOptions.DEFAULTS.after(event), x);
            Results results = call.results().join(); // known ahead of the work
            event.fail(IreeException.of(StatusCode.UNAVAILABLE, "the event is off"));
            assertFails(StatusCode.UNAVAILABLE, "the event is off", call::await);
            assertFails(StatusCode.FAILED_PRECONDITION, "closed", () -> results.get(0));
        }
    }

    @Test
    void aFenceStaysUsableAfterItsCallAndNeedsNoClosing() {
        try (Program program = program("p");
                Tensor x = zero()) {
            List<Submission<Results>> calls = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                CallOptions options = calls.isEmpty()
                        ? CallOptions.DEFAULTS
                        : CallOptions.DEFAULTS.after(calls.getFirst().fence());
                Submission<Results> call = program.function("later").submit(options, x);
                call.await().close();
                calls.add(call);
            }
            assertThat(x.toIntArray()).containsExactly(100);
            assertThat(calls).allMatch(call -> call.fence().isReached());
        }
    }

    @Test
    void refusedSubmissionsSubmitNothing() {
        try (Program program = program("p");
                Fence given = runtime.createFence("given")) {
            assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "submission of 'p.fail' signals a new fence",
                    () -> program.function("fail").submit(CallOptions.DEFAULTS.signal(given)));
            assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "",
                    () -> program.function("now").submit(CallOptions.DEFAULTS));
            assertThat(program.monitor().pendingCalls(8)).isEmpty();
        }
    }

    @Test
    void theFenceIsNamedAfterTheCall() {
        try (Program program = program("p");
                Fence never = runtime.createFence("never");
                Tensor x = zero()) {
            Submission<Results> first = program.function("now").submit(CallOptions.DEFAULTS.after(never), x);
            Submission<Results> second = program.function("now").submit(CallOptions.DEFAULTS.after(first.fence()), x);
            assertThat(program.monitor()
                            .pendingCalls(8)
                            .getLast()
                            .waits()
                            .getFirst()
                            .describe())
                    .contains("call of 'p.now'");
            never.signal();
            second.await().close();
            first.await().close();
        }
    }

    @Test
    void resultsAreConvertedOnlyWithoutReadingTheirContents() {
        Fence done;
        try (Program program = program("p")) {
            Submission<Results> call = program.function("fail").submit(CallOptions.DEFAULTS);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ResultType.of(float[].class).read(call));
            Submission<Tensor> converted = ResultType.of(Tensor.class).read(call);
            assertThat(converted.fence()).isSameAs(call.fence());
            done = call.fence();
            IreeFuture<Tensor> tensor = converted.results();
            assertFails(StatusCode.DATA_LOSS, "the root cause", tensor::await);
        }
        assertThat(done.query()).isEqualTo(StatusCode.DATA_LOSS);
    }
}
