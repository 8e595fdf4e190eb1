package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.hal.virtual.SmallProgram.Kind;
import io.github.iree4j.hal.virtual.SmallProgram.Operation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/** Checks the observations of a {@link SmallRun} against the order of the hardware, independently of frontiers. */
final class SmallOracle {
    private final SmallRun run;
    private final SmallProgram program;
    private final boolean[] checked; // whose frontier
    private @Nullable String wrong;

    SmallOracle(SmallRun run, SmallProgram program) {
        this.run = run;
        this.program = program;
        this.checked = new boolean[program.size()];
    }

    /** The first violation. */
    @Nullable
    String wrong() {
        return wrong;
    }

    void fail(String what) {
        if (wrong == null) {
            wrong = what;
        }
    }

    /** After each step. */
    void check() {
        for (int i = 0; i < program.size(); i++) {
            checkFrontier(i);
            checkCompleted(i);
            checkMemory(i);
        }
    }

    /**
     * Each wait was reached: an operation with a signal of the value or a higher value had ended, or the host had
     * signalled the value.
     */
    void checkStart(int i) {
        int waits = program.operations().get(i).waits();
        for (int p = 0; p < SmallProgram.POINTS; p++) {
            if ((waits >> p & 1) != 0 && !isReached(p)) {
                fail("early start: operation " + i + " before " + SmallProgram.name(p) + " was reached");
            }
        }
    }

    private boolean isReached(int point) {
        for (int u = point; u <= (point | 1); u++) {
            if ((run.byHand >> u & 1) != 0) {
                return true;
            }
            for (int j = 0; j < program.size(); j++) {
                if (program.operations().get(j).signal() == u && run.ended[j] > 0) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Everything claimed by the frontier of an ended operation had ended. */
    private void checkFrontier(int i) {
        Frontier frontier = run.frontier(i);
        if (checked[i] || run.ended[i] == 0 || frontier.size() == 0) {
            return;
        }
        checked[i] = true;
        if (!run.ran[i]) {
            return; // it was on a lost device, and never ran
        }
        // On an unordered queue an operation has its epoch, and its end, at the report to the host: now.
        boolean unordered = program.queues().charAt(program.operations().get(i).queue()) == 'U';
        long end = unordered ? Long.MAX_VALUE : run.ended[i];
        for (int e = 0; e < frontier.size(); e++) {
            for (int j = 0; j < program.size(); j++) {
                Frontier other = run.frontier(j);
                if (j != i
                        && other.producerAxis() == frontier.axis(e)
                        && other.producerEpoch() <= frontier.epoch(e)
                        && other.hasProducer()
                        && (run.ended[j] == 0 || run.ended[j] > end)) {
                    fail("optimistic frontier: operation %d claims to end after %d: %s".formatted(i, j, frontier));
                }
            }
            for (int q = 0; q < run.queues.length; q++) {
                if (run.queues[q].axis() == frontier.axis(e)
                        && program.queues().charAt(q) == 'U'
                        && run.tracker.completed(frontier.axis(e)) < frontier.epoch(e)
                        && !run.lost) {
                    fail("optimistic frontier: operation %d claims an end unreported to the host: %s"
                            .formatted(i, frontier));
                }
            }
        }
    }

    /** Everything reported by the tracker as complete had ended. */
    private void checkCompleted(int i) {
        Frontier frontier = run.frontier(i);
        if (frontier.hasProducer()
                && run.tracker.completed(frontier.producerAxis()) >= frontier.producerEpoch()
                && run.ended[i] == 0) {
            fail("completed before the end: operation " + i);
        }
    }

    /** Granted memory has no other user at the start of the allocation. */
    private void checkMemory(int i) {
        Operation each = program.operations().get(i);
        Buffer buffer = run.buffers[each.block()];
        if (each.kind() != Kind.ALLOCATE || !run.ran[i] || run.from[each.block()] != 0 || buffer == null) {
            return;
        }
        try {
            run.from[each.block()] =
                    buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE).address();
        } catch (IreeException e) {
            run.from[each.block()] = -1; // it failed
            return;
        }
        for (int other = 0; other < SmallProgram.BLOCKS; other++) {
            if (other == each.block() || run.from[other] <= 0) {
                continue;
            }
            boolean apart = run.from[other] + SmallRun.size(other) <= run.from[each.block()]
                    || run.from[each.block()] + SmallRun.size(each.block()) <= run.from[other];
            if (!apart && (run.freed[other] == 0 || run.freed[other] > run.started[i])) {
                fail("stale reservation: operation %d has memory still used by block %s"
                        .formatted(i, SmallProgram.LETTERS.charAt(other)));
            }
        }
    }

    private void checkOutcomes() {
        for (int i = 0; i < program.size(); i++) {
            Operation each = program.operations().get(i);
            IreeException failure = run.own[i].failure();
            if (failure == null && run.own[i].value() == 0) {
                fail("hangs: operation " + i);
                continue;
            }
            boolean mayFail =
                    run.cancelled[i] && failure == SmallRun.CANCELLED || run.isOnLost(i) && failure == SmallRun.LOSS;
            boolean mustFail = false;
            for (int p = 0; p < SmallProgram.POINTS; p++) {
                if (each.waitsFor(p)) {
                    TimelineSemaphore timeline = run.timelines[p / 2];
                    mayFail |= timeline.failure() != null && timeline.failure() == failure;
                    mustFail |= timeline.failure() != null && timeline.value() <= p % 2;
                }
            }
            if (each.kind() == Kind.FREE) { // of an unallocated block
                for (int j = 0; j < program.size(); j++) {
                    Operation other = program.operations().get(j);
                    mayFail |= other.kind() == Kind.ALLOCATE
                            && other.block() == each.block()
                            && run.own[j].failure() != null
                            && run.own[j].failure() == failure;
                }
            }
            mayFail |= each.kind() == Kind.ALLOCATE
                    && run.hostHeld[i]
                    && failure != null
                    && failure.code() == StatusCode.RESOURCE_EXHAUSTED;
            if (failure != null && !mayFail) {
                fail("failed without a cause: operation %d with %s".formatted(i, failure));
            } else if (failure == null && mustFail) {
                fail("a wait failed, but not the operation " + i);
            } else if (failure == null && run.ended[i] == 0) {
                fail("signalled and never ended: operation " + i);
            }
        }
    }

    /** At the end: everything ended correctly, and nothing is left. */
    void checkEnd() {
        checkOutcomes();
        for (DeviceQueue queue : run.queues) {
            if (queue.counters().pending() != 0 || queue.counters().inFlight() != 0) {
                fail("something is left on a queue: " + queue.counters());
            }
        }
        for (Buffer buffer : run.buffers) {
            if (buffer != null) {
                buffer.close();
            }
        }
        for (VirtualDevice device : run.devices) {
            PoolSetStatistics pools = device.allocator().poolStatistics();
            if (pools.bytesLive() != 0 || pools.waiting() != 0) {
                fail("memory is left: %d bytes, %d in line".formatted(pools.bytesLive(), pools.waiting()));
            }
        }
    }
}
