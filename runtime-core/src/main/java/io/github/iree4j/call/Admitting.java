package io.github.iree4j.call;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.pool.Admission;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.MemoryEstimate;
import io.github.iree4j.hal.pool.MemoryHolder;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The admission of a submitted call: the call gets the right to hold memory at once, or waits in the line of each
 * {@link AdmissionGate} of the program, line after line. A nested call shares the right of the outer call, because the
 * outer call may wait for the nested call, and requests admission only at devices where the outer call has not. A call
 * whose code submits work behind a fence needs memory only for the inputs until the fence is reached; then the whole
 * need counts. Such a call, nested or not, requests admission at the first device only: with parts of their needs at
 * several devices, two calls becoming due together might each wait for the other.
 */
final class Admitting {
    /** The most bytes to copy instead of starting a thread. A guess, not measured. */
    private static final long BRIEF_COPY = 1 << 18;

    private final ProgramCalls program;
    private final MemoryNeeds needs;
    private final InputSize size;
    private final MemoryHolder holder;
    private final CallState call;
    private final @Nullable Fence ahead;
    private final @Nullable MemoryHolder outer;
    private final List<MemoryNeed> asks;
    private int next; // index of the first need not yet requested; handed from thread to thread
    private HeldCalls.@Nullable Making attempt; // published by the line, as is the next
    private final Queue<Admission> places = new ConcurrentLinkedQueue<>(); // in the lines joined so far

    /**
     * Creates the admission of a call of the current thread.
     *
     * @param holder the holder of the call's memory
     * @param call the call
     * @param size the size of the call's inputs
     * @param ahead the unreached fence that the call's code runs ahead of; null for none
     */
    Admitting(
            ProgramCalls program,
            MemoryNeeds needs,
            InputSize size,
            MemoryHolder holder,
            CallState call,
            @Nullable Fence ahead) {
        this.program = program;
        this.needs = needs;
        this.size = size;
        this.holder = holder;
        this.call = call;
        this.ahead = ahead;
        this.outer = MemoryHolder.current();
        List<MemoryNeed> all = ahead == null ? needs.of(size) : needs.atFirstDevice();
        this.asks = outer == null ? all : MemoryNeeds.beside(outer, all);
    }

    /** Gets the right at once unless earlier calls wait; false when the call has to {@link #join}. */
    boolean tryAdmit() {
        if (!program.held.isEmpty(outer)) {
            return false;
        }
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

    /** Describes what the call waits for in line: the right, or the calls admitted before. */
    MemoryWait awaited() {
        return MemoryNeeds.awaited(asks, size, places);
    }

    /** Describes what a call waits for that could not be made for lack of memory for the inputs. */
    MemoryWait awaitedInputs() {
        return call.isMade() ? MemoryWait.NONE : MemoryWait.ofInputs(size.copied(), false);
    }

    /** Whether the call was submitted ahead of its fence, and its code runs ahead of the fence. */
    boolean isAhead() {
        return ahead != null;
    }

    /** Counts the whole need of a call admitted at once, from the moment when the call's work may begin. */
    void watch() {
        if (ahead != null) {
            places.forEach(admission -> admission.dueAt(ahead)); // at most one place
        }
    }

    /**
     * Joins the line.
     *
     * @param making makes the call, in order among the calls of the program, see {@link HeldCalls#make}; the order is
     *     left with {@link #leaveOrder}
     * @return takes the call out of the line, until making begins
     */
    Cancellation join(HeldCalls.Making making) {
        attempt = making;
        call.become(CallState.State.FOR_MEMORY, ahead, this::awaited);
        program.held.add(outer);
        try {
            ask();
        } catch (RuntimeException | Error e) {
            cancel();
            throw e;
        }
        return this::cancel;
    }

    /** Ends the call, unless the call is being made; returns whether the call is ended. */
    boolean cancel() {
        if (!call.takeHeld(CallState.State.ENDED)) {
            return false;
        }
        places.forEach(Admission::cancel);
        leaveOrder();
        return true;
    }

    private void ask() {
        if (next == asks.size()) { // nothing to ask for, or the right is given and memory was short
            watch();
            makeSoon();
            return;
        }
        MemoryNeed need = asks.get(next++);
        boolean isLast = next == asks.size();
        Admission asked = need.gate()
                .join(program.memory().consumer(), !program.overlaps, need.estimate(size), ahead != null, given -> {
                    holder.admitted(given);
                    if (isLast) {
                        makeSoon();
                    } else {
                        CallThreads.start("iree4j-memory", this::ask); // the gate is locked in this callback
                    }
                });
        places.add(asked);
        if (!call.isHeld()) { // cancelled before the place was listed, or made
            asked.cancel();
        }
        watch();
    }

    /** Makes an admitted or postponed call soon, behind the calls admitted before. */
    void makeSoon() {
        call.takeHeld(CallState.State.ADMITTED);
        program.held.make(outer, this::make, holder, isBrief());
    }

    private boolean make(boolean mayWait) {
        return !call.makeHeld() || Objects.requireNonNull(attempt).make(mayWait); // not if ended
    }

    /** Takes a call that has been made, or never will be made, out of the order of calls. */
    void leaveOrder() {
        program.held.remove(outer);
    }

    /** Whether the inputs are on the device in the time for starting a thread. */
    private boolean isBrief() {
        return !size.isApart()
                && size.copied() <= BRIEF_COPY
                && program.memory().device().isMemoryOfHost();
    }

    /** Ends the call's right after the call has ended, and records the memory held by the call and its nested calls. */
    void settle(boolean hasSucceeded) {
        holder.settle(() -> {
            if (hasSucceeded) {
                needs.learn(size, holder);
            } else if (call.isMade()) {
                needs.failed(holder);
            }
        });
    }
}
