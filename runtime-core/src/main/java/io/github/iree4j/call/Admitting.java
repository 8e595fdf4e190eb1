package io.github.iree4j.call;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.pool.Admission;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.MemoryEstimate;
import io.github.iree4j.hal.pool.MemoryHolder;
import org.jspecify.annotations.Nullable;

/**
 * How a submitted call gets the right to hold memory: at once, or in the line of the {@link AdmissionGate}. A call of a call has that of the
 * outer one, which may wait for it. A call whose code submits its work behind a fence needs memory for its inputs only until the fence is
 * reached; then its whole need counts.
 */
final class Admitting {
    private final ProgramCalls program;
    private final MemoryNeed need;
    private final long size;
    private final MemoryHolder holder;
    private final @Nullable AdmissionGate gate;
    private final @Nullable Fence ahead;
    private final boolean isDone;

    /**
     * Asks for the right, if the call can be made at once.
     *
     * @param holder the call
     * @param size bytes of its inputs
     * @param ahead the fence, not reached, that its code runs ahead of; null for none
     * @param now whether the call can be made at once
     */
    Admitting(
            ProgramCalls program, MemoryNeed need, long size, MemoryHolder holder, @Nullable Fence ahead, boolean now) {
        this.program = program;
        this.need = need;
        this.size = size;
        this.holder = holder;
        this.ahead = ahead;
        this.gate = MemoryHolder.current() == null ? program.memory().gate() : null;
        this.isDone = now && (gate == null || program.held().isEmpty() && isAdmitted(gate));
    }

    private boolean isAdmitted(AdmissionGate line) {
        String consumer = program.memory().consumer();
        MemoryEstimate estimate = need.estimate(size);
        Admission admission =
                ahead == null ? line.tryAdmit(consumer, estimate) : line.tryAdmitAhead(consumer, estimate);
        if (admission != null) {
            holder.admitted(admission);
        }
        return admission != null;
    }

    /** Whether the call got the right at once. */
    boolean isDone() {
        return isDone;
    }

    /** Counts the whole need of a call that got the right at once from the moment on at which its work may begin. */
    void watch() {
        watch(holder.admission());
    }

    private void watch(@Nullable Admission admission) {
        if (ahead != null && admission != null) {
            admission.dueAt(ahead);
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
        Runnable made = () -> {
            try {
                make.run();
            } finally {
                held.remove();
            }
        };
        if (gate == null) {
            held.make(made);
            return Cancellation.OVER;
        }
        Admission place = gate.join(program.memory().consumer(), need.estimate(size), ahead != null, admission -> {
            holder.admitted(admission);
            held.make(made);
        });
        watch(place);
        return () -> {
            boolean left = place.cancel();
            if (left) {
                held.remove();
            }
            return left;
        };
    }

    /** Remembers what a call that has succeeded held. After its end. */
    void learn() {
        need.learn(size, holder.peak());
    }
}
