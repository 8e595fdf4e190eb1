package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.SemaphoreProbe;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.hal.virtual.SmallProgram.Kind;
import io.github.iree4j.hal.virtual.SmallProgram.Operation;
import io.github.iree4j.status.IreeException;

/**
 * A hash of the state as far as the future of a {@link SmallRun} depends on it; {@link Explorer} explains the
 * completeness.
 */
final class SmallState {
    private final SmallRun run;
    private final SmallProgram program;
    private final int count;
    private final SignalRecord record = new SignalRecord();
    private final long[] seen; // inputs of the decisions about each operation
    private long memory;

    SmallState(SmallRun run, SmallProgram program) {
        this.run = run;
        this.program = program;
        this.count = program.size();
        this.seen = new long[count];
    }

    /** Records an operation as moved on, or as held back: perhaps decided. */
    void note(int i, boolean moved, long before, int step) {
        long now = visible(i);
        if (moved || now != before) {
            seen[i] = mix(mix(mix(seen[i], before), now), step);
        }
    }

    /** Records reserved and free memory, with places and death frontiers. */
    void lookAtMemory() {
        PoolSetStatistics pools = run.devices[0].allocator().poolStatistics();
        long hash = mix(pools.bytesLive(), pools.waiting());
        for (int i = 0; i < count; i++) {
            if (program.operations().get(i).kind() != Kind.WORK) {
                hash = mix(mix(hash, run.phases[i]), hash(run.frontier(i)));
            }
        }
        for (int block = 0; block < SmallProgram.BLOCKS; block++) {
            hash = mix(
                    mix(hash, run.from[block] <= 0 ? run.from[block] : 1 + run.from[block] - run.base),
                    run.freed[block] == 0 ? 0 : 1);
        }
        memory = hash;
    }

    private static long mix(long hash, long more) {
        long mixed =
                (Long.rotateLeft(hash, 23) + 0x632BE59BD9B4E019L ^ more * 0xC2B2AE3D27D4EB4FL) * 0x9E3779B97F4A7C15L;
        return mixed ^ mixed >>> 32;
    }

    private static long hash(Frontier frontier) {
        long hash = frontier.isTainted() ? 3 : 1;
        for (int i = 0; i < frontier.size(); i++) {
            hash = mix(mix(hash, frontier.axis(i)), frontier.epoch(i));
        }
        return mix(mix(hash, frontier.producerAxis()), frontier.producerEpoch());
    }

    private long hash(int point) {
        TimelineSemaphore timeline = run.timelines[point / 2];
        IreeException failure = timeline.failure();
        long hash = mix(timeline.value(), failure == null ? 99 : failure.code().ordinal());
        hash = mix(mix(hash, timeline.usedScope().ordinal()), SemaphoreProbe.historySize(timeline));
        if (timeline.lookup(point % 2 + 1, record)) {
            hash = mix(mix(hash, record.value() * 2 + (record.isReached() ? 1 : 0)), hash(record.frontier()));
        }
        return hash;
    }

    private long completed() {
        long hash = 0;
        for (DeviceQueue queue : run.queues) {
            hash = mix(hash, run.tracker.completed(queue.axis()));
        }
        return hash;
    }

    /** All inputs of a decision about an operation. */
    long visible(int i) {
        Operation each = program.operations().get(i);
        long hash = mix(completed(), hash(run.queues[each.queue()].frontier()));
        for (int p = 0; p < SmallProgram.POINTS; p++) {
            if (each.waitsFor(p)) {
                hash = mix(hash, hash(p));
            }
        }
        return each.kind() == Kind.WORK ? hash : mix(hash, memory);
    }

    long key() {
        long hash = mix(run.byHand, run.lost ? 1 : 0);
        for (int block = 0; block < SmallProgram.BLOCKS; block++) {
            hash = mix(hash, run.freed[block] == 0 ? 0 : 1);
        }
        for (int i = 0; i < count; i++) {
            hash = mix(hash, run.phases[i] << 2 | (run.toReport[i] ? 2 : 0) | (run.cancelled[i] ? 1 : 0));
            hash = mix(hash, hash(run.frontier(i)));
            IreeException failure = run.own[i].failure();
            hash = mix(hash, failure == null ? 99 : failure.code().ordinal());
            hash = mix(hash, run.phases[i] == SmallRun.OVER ? 0 : seen[i]);
        }
        for (int held : run.heldBack) {
            hash = mix(hash, held);
        }
        for (int p = 0; p < SmallProgram.POINTS; p++) {
            hash = mix(hash, hash(p));
        }
        for (DeviceQueue queue : run.queues) {
            hash = mix(hash, hash(queue.frontier()));
        }
        return mix(mix(hash, completed()), memory);
    }
}
