package io.github.iree4j.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The part of a process that is read by everybody and hardly ever written. */
abstract class ProcessIdentity {
    private static final VarHandle EXECUTOR;
    private static final VarHandle STATES;
    private static final long[] NO_STATE = {};

    /** So that states of two workers do not meet in a line, wherever the collector puts them. */
    private static final int STATE_SLACK = 16;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            EXECUTOR = lookup.findVarHandle(ProcessIdentity.class, "executor", ProcessExecutor.class);
            STATES = lookup.findVarHandle(ProcessIdentity.class, "workerStates", long[][].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final ProcessOptions options;
    int node = ListNodes.NONE; // of the thread that has it off the lists
    int tableIndex = -1; // of the thread that adds it to the table, then of the one that removes it

    @SuppressWarnings("unused") // only through EXECUTOR
    private @Nullable ProcessExecutor executor;

    @SuppressWarnings("unused") // only through STATES
    private long @Nullable [][] workerStates;

    ProcessIdentity(ProcessOptions options) {
        this.options = options;
    }

    final @Nullable ProcessExecutor executorVolatile() {
        return (ProcessExecutor) EXECUTOR.getVolatile(this);
    }

    /** Makes the process belong to an executor; returns the one it belonged to before, or null. */
    final @Nullable ProcessExecutor bindVolatile(ProcessExecutor given) {
        return (ProcessExecutor) EXECUTOR.compareAndExchange(this, null, given);
    }

    /** Forgets the executor, for another life. */
    final void unbindRelease() {
        EXECUTOR.setRelease(this, null);
    }

    /** Returns the words of one drainer; each element of the outer array is written by that drainer only. */
    final long[] workerState(int index) {
        int words = options.workerStateWords();
        if (words == 0) {
            return NO_STATE;
        }
        long[][] states = (long[][]) STATES.getAcquire(this);
        if (states == null || states.length <= index) {
            states = growStates(states);
        }
        long[] mine = states[index];
        if (mine == null) {
            mine = new long[words + STATE_SLACK];
            states[index] = mine;
        }
        return mine;
    }

    private long[][] growStates(long @Nullable [][] seen) {
        long[][] fresh = new long[Objects.requireNonNull(executorVolatile()).contexts()][];
        return STATES.compareAndSet(this, seen, fresh) ? fresh : (long[][]) STATES.getAcquire(this);
    }

    /** Zeroes the words of all drainers. Only when nobody is in a drain. */
    final void clearWorkerStates() {
        long[][] states = (long[][]) STATES.getAcquire(this);
        if (states != null) {
            for (long[] state : states) {
                if (state != null) {
                    Arrays.fill(state, 0);
                }
            }
        }
    }
}
