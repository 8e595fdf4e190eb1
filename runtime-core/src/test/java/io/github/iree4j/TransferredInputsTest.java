package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Ownership of inputs: the program may free a transferred tensor; only the caller may free a lent tensor. */
class TransferredInputsTest {
    private static final long BYTES = 4096;
    private static final Shape SHAPE = Shape.of(1024);

    private final IreeRuntime runtime = IreeRuntime.builder().taskWorkers(1).build();
    private final List<Long> seen = new ArrayList<>();
    private Program program;

    @BeforeEach
    void load() {
        program = runtime.load(ProgramOptions.builder()
                .module(NativeModule.builder("java", 1, Object::new)
                        .function("make", "0v_r", (_, c) -> make(c))
                        .function("look", "0r_v", (_, c) -> look(c))
                        .function("free", "0r_i", (_, c) -> free(c))
                        .function("replace", "0r_r", (_, c) -> replace(c))
                        .function("discards", "0r_i", (_, c) -> discards(c))
                        .function("freeLater", "0rrr_v", (_, c) -> freeLater(c))
                        .attribute("iree.abi.model", "coarse-fences")
                        .build())
                .build());
    }

    @AfterEach
    void nothingIsLeft() {
        program.close();
        runtime.close();
        LeakCheck.assertNone(runtime);
    }

    private long live() {
        return runtime.monitor().leaks().bytesLive();
    }

    /** A tensor in queue-ordered memory, full of ones. */
    private void make(VmCall call) {
        call.returnRef(ones());
    }

    private BufferView ones() {
        DeviceQueue queue = runtime.device().queue(0);
        try (Timeline timeline = runtime.createTimeline();
                Fence allocated = timeline.at(1);
                Fence filled = timeline.at(2)) {
            try (Buffer buffer = queue.alloca(null, allocated, BufferParams.DEFAULT, BYTES, 0)) {
                queue.fill(allocated, filled, buffer, 0, BYTES, 1, 4, 0);
                filled.await();
                return BufferView.create(buffer, SHAPE, ElementType.I32, BufferView.ENCODING_DENSE_ROW_MAJOR);
            }
        }
    }

    private void dealloca(Buffer buffer) {
        try (Timeline timeline = runtime.createTimeline();
                Fence freed = timeline.at(1)) {
            runtime.device().queue(0).dealloca(null, freed, buffer, 0);
            freed.await();
        }
    }

    private void look(VmCall call) {
        call.required(BufferView.class);
        seen.add(live());
    }

    /** Frees the input if permitted, as compiled programs do; returns whether this was the last owner. */
    private void free(VmCall call) {
        BufferView view = call.required(BufferView.class);
        boolean last = view.buffer().isTerminal();
        dealloca(view.buffer());
        seen.add(live());
        call.returnI32(last ? 1 : 0);
    }

    /** Frees the input and then allocates as much. */
    private void replace(VmCall call) {
        dealloca(call.required(BufferView.class).buffer());
        BufferView next = ones();
        seen.add(live());
        call.returnRef(next);
    }

    /** Drops an ownership never held, and frees. */
    private void discards(VmCall call) {
        Buffer buffer = call.required(BufferView.class).buffer();
        boolean last = buffer.discard() || buffer.discard();
        dealloca(buffer);
        call.returnI32(last ? 1 : 0);
    }

    /** Has the input freed by the device, between the fences. */
    private void freeLater(VmCall call) {
        Buffer buffer = call.required(BufferView.class).buffer();
        Fence wait = call.ref(Fence.class);
        runtime.device().queue(0).dealloca(wait, call.required(Fence.class), buffer, 0);
    }

    private Tensor made() {
        try (Results results = program.function("make").invoke()) {
            return results.take(0);
        }
    }

    private int invokeInt(String function, Object input) {
        try (Results results = program.function(function).invoke(input)) {
            return results.intValue(0);
        }
    }

    @Test
    void programsFreeTransferredTensorsInOrder() {
        Tensor input = made();
        assertThat(live()).isEqualTo(BYTES);
        assertThat(invokeInt("free", input.transfer()))
                .as("the program is the last owner")
                .isEqualTo(1);
        assertThat(seen).as("bytes live within the call, after the free").containsExactly(0L);
    }

    @Test
    void programsCannotFreeLentTensors() {
        try (Tensor input = made()) {
            assertThat(invokeInt("free", input))
                    .as("the program is the last owner")
                    .isZero();
            assertThat(seen).containsExactly(BYTES);
            assertThat(input.toIntArray()).hasSize(1024).containsOnly(1);
            assertThat(invokeInt("discards", input)).isZero();
            assertThat(input.toIntArray()).as("after a second try").containsOnly(1);
            assertThat(invokeInt("discards", input)).isZero();
            assertThat(input.toIntArray()).as("after a third").containsOnly(1);
        }
        assertThat(live()).isZero();
    }

    @Test
    void aChainOfTransferredStatesHoldsOneStatesMemory() {
        Tensor state = made();
        for (int i = 0; i < 100; i++) {
            try (Results results = program.function("replace").invoke(state.transfer())) {
                state = results.take(0);
            }
        }
        assertThat(seen).hasSize(100).containsOnly(BYTES);
        assertThat(state.toIntArray()).containsOnly(1);
        state.close();
    }

    @Test
    void aTransferredInputIsClosedForTheCallerAndFreeAfterTheCall() {
        Tensor input = made();
        program.function("look").invoke(input.transfer()).close();
        assertThat(seen).containsExactly(BYTES);
        assertThat(live()).as("without a close()").isZero();
        assertThat(input.isClosed()).isTrue();
        assertFails("tensor 1024xi32, which was transferred to a call, is closed", input::toIntArray);
        assertFails("is closed", () -> program.function("look").invoke(input));
        assertFails("is closed", () -> program.function("look").invoke(input.transfer()));
        input.close(); // harmless
    }

    @Test
    void submittedWorkFreesTransferredTensorsBetweenItsFencesAndNoLentTensor() {
        Tensor given = made();
        try (Tensor lent = made();
                Timeline timeline = runtime.createTimeline();
                Fence start = timeline.at(1);
                Fence first = timeline.at(2);
                Fence second = timeline.at(3)) {
            var one = program.function("freeLater")
                    .call(CallOptions.DEFAULTS.after(start).signal(first), given.transfer());
            var other = program.function("freeLater")
                    .call(CallOptions.DEFAULTS.after(first).signal(second), lent);
            assertThat(given.isClosed()).as("once submitted").isTrue();
            assertThat(live()).as("before it may run").isEqualTo(2 * BYTES);
            start.signal();
            second.await();
            assertThat(live()).isEqualTo(BYTES);
            assertThat(lent.toIntArray()).containsOnly(1);
            one.join().close();
            other.join().close();
        }
    }

    @Test
    void refusedCallsTakeNothing() {
        try (Tensor input = made()) {
            ProgramFixture.assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "takes 1 argument;",
                    () -> program.function("look").invoke(input.transfer(), 2));
            assertThat(input.isClosed()).isFalse();
            assertThat(input.toIntArray()).containsOnly(1);
        }
    }

    @Test
    void memorySharedByAnotherResultStaysUntilItsClose() {
        Tensor input = made();
        try (Program keeper = runtime.load(ProgramOptions.builder()
                        .module(NativeModule.builder("keeper", 1, Object::new)
                                .function(
                                        "same",
                                        "0r_r",
                                        (_, c) -> c.returnRef(ProgramFixture.retained(c.ref(Object.class))))
                                .build())
                        .build());
                Results shared = keeper.function("same").invoke(input.transfer())) {
            assertThat(input.isClosed()).isTrue();
            assertThat(shared.tensor(0).toIntArray()).containsOnly(1);
            assertThat(live()).isEqualTo(BYTES);
        }
        assertThat(live()).isZero();
    }

    private static void assertFails(String message, ThrowingCallable use) {
        ProgramFixture.assertFails(StatusCode.FAILED_PRECONDITION, message, use);
    }
}
