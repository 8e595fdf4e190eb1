package io.github.iree4j.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.status.FilesInPlace;
import io.github.iree4j.tensor.DeviceMemory;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The wait of a submitted call before being made, as reported when the call is late; and the decision whether the call
 * is made.
 */
@Timeout(300)
class AdmittingTest {
    private static final InputSize ROW = new InputSize(16, 16, false);
    private static final InputSize ROW_APART = new InputSize(16, 16, true); // another thread makes such a call

    private final IreeRuntime runtime = IreeRuntime.create();
    private final Context context = Context.create(List.of(), ContextOptions.DEFAULTS);
    private final ProgramCalls program = new ProgramCalls(
            "program",
            context,
            new DeviceMemory(runtime.device()),
            new OperationsUnderWay(),
            runtime.monitor().workers().executor(),
            false,
            false,
            new FilesInPlace(_ -> Runnable::run, _ -> Runnable::run, Runnable::run),
            null,
            failure -> failure,
            () -> {});

    @AfterEach
    void nothingIsLeft() {
        context.close();
        runtime.close();
    }

    private Admitting admitting(InputSize inputs, CallState call) {
        MemoryHolder holder = new MemoryHolder("program.step", new OperationsUnderWay());
        MemoryNeeds needs = new MemoryNeeds(program.memory());
        return new Admitting(program, needs, inputs, holder, call, null);
    }

    @Test
    void anAdmittedCallWaitsForItsTurnAndNotForMemory() throws Exception {
        CountDownLatch isMaking = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch isMade = new CountDownLatch(1);
        CallState state = new CallState();
        Admitting first = admitting(ROW, state);
        Admitting second = admitting(ROW, new CallState());
        assertThat(second.awaited().text().get())
                .as("before the request")
                .startsWith("128 bytes of memory, the expected need");
        assertThat(second.awaited().state()).as("before the request").isEqualTo(PendingCall.State.IN_LINE);
        first.join(mayWait -> {
            if (!mayWait) {
                state.become(CallState.State.SHORT, null, first::awaitedInputs);
                return false; // as if memory for the inputs were missing
            }
            isMaking.countDown();
            awaitUninterrupted(go);
            first.leaveOrder();
            return true;
        });
        second.join(_ -> {
            isMade.countDown();
            second.leaveOrder();
            return true;
        });
        isMaking.await();
        MemoryWait whileMade = first.awaitedInputs();
        MemoryWait asInLine = first.awaited(); // by a look that began before the call was admitted
        state.become(CallState.State.IN_LINE);
        MemoryWait afterMade = first.awaitedInputs();
        String behind = second.awaited().text().get();
        go.countDown();
        isMade.await();
        first.settle(true);
        second.settle(true);
        assertThat(whileMade.text().get()).isEqualTo("16 bytes of memory");
        assertThat(asInLine).isSameAs(MemoryWait.NONE);
        assertThat(afterMade).isSameAs(MemoryWait.NONE);
        assertThat(behind).isEqualTo("its turn");
    }

    /** CALL-1: otherwise a call would be made and ended, or neither. */
    @Test
    void aCallIsMadeOrCancelledAndNeverBoth() {
        int rounds = Effort.rounds(2_000);
        AtomicInteger made = new AtomicInteger();
        int cancelled = 0;
        for (int i = 0; i < rounds; i++) {
            CallState state = new CallState();
            Admitting call = admitting(ROW_APART, state);
            call.join(_ -> {
                made.incrementAndGet();
                state.become(CallState.State.IN_LINE);
                call.leaveOrder();
                return true;
            });
            for (int spins = i % 200 * 10; spins > 0; spins--) {
                Thread.onSpinWait();
            }
            cancelled += call.cancel() ? 1 : 0;
            while (!program.held.isEmpty(null)) {
                assertThat(made.get() + cancelled).isLessThan(i + 2);
                Thread.onSpinWait();
            }
            call.settle(true);
            assertThat(made.get() + cancelled).isEqualTo(i + 1);
        }
        assertThat(cancelled).isPositive();
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
