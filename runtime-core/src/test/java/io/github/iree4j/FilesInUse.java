package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.monitor.PendingCall;
import java.util.function.BooleanSupplier;

/** Waits for the work of a program on its files, for tests. */
final class FilesInUse {
    private FilesInUse() {}

    /** Waits until the contents of all files of a program have been read for comparison. */
    static void awaitRead(Program program) {
        awaitThat(program.loaded.inPlace()::areRead);
    }

    /** Waits until a call of a program is suspended. */
    static void awaitSuspended(Program program) {
        awaitThat(() -> program.monitor().pendingCalls(1).stream()
                .anyMatch(call -> call.state() == PendingCall.State.SUSPENDED));
    }

    /** Waits for a condition, and fails at the limit of the test. */
    static void awaitThat(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            assertThat(Thread.currentThread().isInterrupted()).as("time is up").isFalse();
            Thread.onSpinWait();
        }
    }
}
