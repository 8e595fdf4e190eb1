package io.github.iree4j.call;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a submitted call waits for before being made, as told when the call is late. */
@Timeout(300)
class AdmittingTest {
    private static final InputSize ROW = new InputSize(16, 16, false);

    private static Admitting admitting(ProgramCalls program) {
        MemoryHolder holder = new MemoryHolder("program.step", new OperationsUnderWay());
        MemoryNeeds needs = new MemoryNeeds(program.memory());
        return new Admitting(program, needs, ROW, holder, null);
    }

    @Test
    void anAdmittedCallWaitsForItsTurnAndNotForMemory() throws Exception {
        CountDownLatch isMaking = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch isMade = new CountDownLatch(1);
        try (IreeRuntime runtime = IreeRuntime.create();
                Context context = Context.create(List.of(), ContextOptions.DEFAULTS)) {
            ProgramCalls program = new ProgramCalls(
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
            Admitting first = admitting(program);
            Admitting second = admitting(program);
            assertThat(second.awaited().text().get())
                    .as("before the request")
                    .startsWith("128 bytes of memory, the expected need");
            assertThat(second.awaited().state()).as("before the request").isEqualTo(PendingCall.State.IN_LINE);
            first.join(
                    mayWait -> {
                        if (!mayWait) {
                            return Admitting.Outcome.SHORT; // as if memory for the inputs were missing
                        }
                        isMaking.countDown();
                        awaitUninterrupted(go);
                        return Admitting.Outcome.DONE;
                    },
                    () -> {});
            second.join(
                    _ -> {
                        isMade.countDown();
                        return Admitting.Outcome.DONE;
                    },
                    () -> {});
            isMaking.await();
            MemoryWait whileMade = first.awaitedInputs();
            MemoryWait asInLine = first.awaited(); // by a look that began before the call was admitted
            first.made();
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
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
