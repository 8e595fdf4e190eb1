package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** The part of a process read by many threads and hardly ever changed. */
abstract class ProcessIdentity {
    private static final VarHandle EXECUTOR;
    private static final VarHandle OUTCOME;

    static final Object SUCCEEDED = new Object();

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            EXECUTOR = lookup.findVarHandle(ProcessIdentity.class, "executor", ProcessExecutor.class);
            OUTCOME = lookup.findVarHandle(ProcessIdentity.class, "outcome", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final ProcessOptions options;
    int node = ListNodes.NONE; // owned by the thread that has the process off the lists
    int tableIndex = -1; // owned by the thread adding the process to the table, then by the removing thread

    @SuppressWarnings("unused") // only through EXECUTOR
    private @Nullable ProcessExecutor executor;

    /**
     * Null until decided, then the first failure, or SUCCEEDED. Never cleared, so a late failure finds a decided
     * outcome (TASK-4). Only through OUTCOME.
     */
    @SuppressWarnings("unused")
    private @Nullable Object outcome;

    ProcessIdentity(ProcessOptions options) {
        this.options = options;
    }

    final @Nullable ProcessExecutor executorVolatile() {
        return (ProcessExecutor) EXECUTOR.getVolatile(this);
    }

    /** Binds the process to an executor unless bound. Returns the executor bound before, or null. */
    final @Nullable ProcessExecutor bindVolatile(ProcessExecutor given) {
        return (ProcessExecutor) EXECUTOR.compareAndExchange(this, null, given);
    }

    /** Sets the outcome unless decided; returns the outcome. */
    final Object decideOutcome(Object decided) { // TASK-4
        Object before = OUTCOME.compareAndExchange(this, null, decided);
        return before == null ? decided : before;
    }

    final @Nullable IreeException failureAcquire() {
        return OUTCOME.getAcquire(this) instanceof IreeException failure ? failure : null;
    }
}
