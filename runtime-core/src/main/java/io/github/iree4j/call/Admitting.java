package io.github.iree4j.call;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.pool.Admission;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.MemoryEstimate;
import io.github.iree4j.hal.pool.MemoryHolder;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * How a submitted call gets the right to hold memory: at once, or in the line of each {@link AdmissionGate} of its program, one after the
 * other. A nested call has the right of the outer call, which may wait for the nested one, and asks only at devices where the outer call has
 * not. A call whose code submits its work behind a fence needs memory for its inputs only until the fence is reached; then its whole need
 * counts. Such a call, nested or not, asks at its first device only: with parts of their needs at several devices, two that become due together
 * might each wait for the other.
 */
final class Admitting {
    private final ProgramCalls program;
    private final MemoryNeeds needs;
    private final InputSize size;
    private final MemoryHolder holder;
    private final @Nullable Fence ahead;
    private final List<MemoryNeed> asks;
    private int next; // of those, the first at which it has not asked; handed from thread to thread
    private final boolean isDone;
    private final AtomicBoolean isDecided = new AtomicBoolean(); // made, or cancelled
    private volatile boolean isMade;
    private final Queue<Admission> places = new ConcurrentLinkedQueue<>(); // in the lines at which it has asked

    /**
     * Asks for the right, if the call can be made at once.
     *
     * @param holder the call
     * @param size the size of its inputs
     * @param ahead the fence, not reached, that its code runs ahead of; null for none
     * @param now whether the call can be made at once
     */
    Admitting(
            ProgramCalls program,
            MemoryNeeds needs,
            InputSize size,
            MemoryHolder holder,
            @Nullable Fence ahead,
            boolean now) {
        this.program = program;
        this.needs = needs;
        this.size = size;
        this.holder = holder;
        this.ahead = ahead;
        MemoryHolder outer = MemoryHolder.current();
        List<MemoryNeed> all = ahead == null ? needs.of(size) : needs.atFirstDevice();
        this.asks = outer == null ? all : MemoryNeeds.beside(outer, all);
        this.isDone = now && (outer != null && asks.isEmpty() || program.held().isEmpty() && isAdmitted());
        this.isMade = isDone;
    }

    private boolean isAdmitted() {
        String consumer = program.memory().consumer();
        for (; next < asks.size(); next++) {
            MemoryNeed need = asks.get(next);
            MemoryEstimate estimate = need.estimate(size);
            Admission admission = ahead == null
                    ? need.gate().tryAdmit(consumer, estimate)
                    : need.gate().tryAdmitAhead(consumer, estimate);
            if (admission == null) {
                return false;
            }
            holder.admitted(admission);
            places.add(admission);
        }
        return true;
    }

    /** Whether the call got the right at once. */
    boolean isDone() {
        return isDone;
    }

    /** Counts the whole need of a call that got the right at once from the moment on at which its work may begin. */
    void watch() {
        if (ahead != null) {
            places.forEach(admission -> admission.dueAt(ahead)); // one
        }
    }

    /**
     * Joins the line.
     *
     * @param make makes the call, on a thread where it may block, in its order among calls of the program
     * @return takes the call out of the line
     */
    Cancellation join(Runnable make) {
        HeldCalls held = program.held();
        held.add();
        ask(() -> {
            try {
                isMade = true;
                make.run();
            } finally {
                held.remove();
            }
        });
        return () -> {
            if (!isDecided.compareAndSet(false, true)) {
                return false;
            }
            places.forEach(Admission::cancel);
            held.remove();
            return true;
        };
    }

    private void ask(Runnable made) {
        if (next == asks.size()) {
            decide(made);
            return;
        }
        MemoryNeed need = asks.get(next++);
        boolean isLast = next == asks.size();
        Admission asked = need.gate().join(program.memory().consumer(), need.estimate(size), ahead != null, given -> {
            holder.admitted(given);
            if (isLast) {
                decide(made);
            } else {
                CallThreads.start("iree4j-memory", () -> ask(made)); // here the gate is locked
            }
        });
        places.add(asked);
        if (isDecided.get()) { // cancelled before it was seen there, or made
            asked.cancel();
        }
        watch();
    }

    private void decide(Runnable made) {
        if (isDecided.compareAndSet(false, true)) {
            program.held().make(made);
        }
    }

    /** Ends the call's right, and remembers what the call held, with the calls that it made. After its end. */
    void settle(boolean hasSucceeded) {
        holder.settle(() -> {
            if (hasSucceeded) {
                needs.learn(size, holder);
            } else if (isMade) {
                needs.failed(holder);
            }
        });
    }
}
