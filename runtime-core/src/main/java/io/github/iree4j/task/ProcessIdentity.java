package io.github.iree4j.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The part of a process that many threads read and that hardly ever changes. */
abstract class ProcessIdentity {
    private static final VarHandle EXECUTOR;
    private static final VarHandle STATES;
    private static final long[] NO_STATE = {};

    /** Padding that keeps the states of two workers in different cache lines, wherever the collector puts them. */
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
    int node = ListNodes.NONE; // owned by the thread that has it off the lists
    int tableIndex = -1; // owned by the thread that adds it to the table, then by the one that removes it

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

    /** Binds the process to an executor unless bound; returns the executor it was bound to before, or null. */
    final @Nullable ProcessExecutor bindVolatile(ProcessExecutor given) {
        return (ProcessExecutor) EXECUTOR.compareAndExchange(this, null, given);
    }

    /** Unbinds the executor, for another life. */
    final void unbindRelease() {
        EXECUTOR.setRelease(this, null);
    }

    /** Returns the words of one drainer; only that drainer writes its element of the outer array. */
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

    /** Zeroes the words of all drainers. Only while no drain is in progress. */
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
