package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.SchedulingDomain;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Records of the operations and calls in progress when a recording is taken, of the names of the timelines, and of the
 * memory held. Confined to one thread.
 */
final class OpenRecords {
    /** The most operations, and the most calls; a queue holds more back only for a runaway submitter. */
    static final int MAXIMUM = 1 << 16;

    private final RecordWords records = new RecordWords();
    private final Definitions definitions;
    private final long cut;
    private final long until;
    private final Set<Long> named = new HashSet<>();
    private long operations;
    private long moreCalls;

    /** A call in progress, as in {@link SchedulingDomain.CallVisitor}. */
    record Call(
            String program,
            String function,
            long number,
            String state,
            Duration age,
            List<PendingOperation.Wait> waits,
            List<PendingOperation.Point> signals) {}

    /**
     * The calls in progress.
     *
     * @param kept so many as a recording lists
     * @param more number of other calls
     */
    record Calls(List<Call> kept, long more) {
        static final Calls NONE = new Calls(List.of(), 0);
    }

    /**
     * Begins without records.
     *
     * @param cut the number of the records
     * @param until the time of the recording, by the clock of the rings
     */
    OpenRecords(Definitions definitions, long cut, long until) {
        this.definitions = definitions;
        this.cut = cut;
        this.until = until;
    }

    RecordWords records() {
        return records;
    }

    /** Counts an operation; returns whether there is room for the record. */
    boolean hasRoom() {
        return ++operations <= MAXIMUM;
    }

    /** Begins the record of an operation, submitted at a time; there is room. The caller puts the words. */
    WordTarget operation(int words, long submitted) {
        records.begin(RecordType.OPEN, words, cut, submitted);
        return records;
    }

    /** Returns the calls of a domain in progress. */
    static Calls calls(SchedulingDomain domain) {
        List<Call> kept = new ArrayList<>();
        long[] more = {0};
        domain.forEachOpenCall((program, function, number, state, age, waits, signals) -> {
            if (kept.size() < MAXIMUM) {
                kept.add(new Call(program, function, number, state, age, waits, signals));
            } else {
                more[0]++;
            }
        });
        return new Calls(kept, more[0]);
    }

    /** Adds the calls in progress. */
    void calls(Calls calls) {
        calls.kept().forEach(this::call);
        moreCalls = calls.more();
    }

    private void call(Call call) {
        List<PendingOperation.Wait> waits = kept(call.waits());
        List<PendingOperation.Point> signals = kept(call.signals());
        records.begin(RecordType.CALL, 7 + 2 * (waits.size() + signals.size()), cut, until);
        records.put(call.number());
        records.put(definitions.name(call.program()));
        records.put(definitions.name(call.function()));
        records.put(definitions.name(call.state()));
        records.put(call.age().toNanos());
        records.put(waits.size());
        records.put(signals.size());
        waits.forEach(each -> put(each.semaphore(), each.value()));
        signals.forEach(each -> put(each.semaphore(), each.value()));
        waits.forEach(each -> name(each.semaphore(), each.timeline()));
        signals.forEach(each -> name(each.semaphore(), each.timeline()));
        morePoints(0, call.waits().size(), call.signals().size());
    }

    /** Adds the number of points left out of the record of an operation, or of a call for 0; nothing for none. */
    void morePoints(long operation, int waits, int signals) {
        if (Math.max(waits, signals) > RecordingObserver.MAXIMUM_POINTS) {
            records.begin(RecordType.MORE_POINTS, 3, cut, until);
            records.put(operation);
            records.put(Math.max(0, waits - RecordingObserver.MAXIMUM_POINTS));
            records.put(Math.max(0, signals - RecordingObserver.MAXIMUM_POINTS));
        }
    }

    /** Adds how many operations and calls had no room; nothing for none. */
    void end() {
        if (operations > MAXIMUM || moreCalls > 0) {
            records.begin(RecordType.MORE_OPEN, 2, cut, until);
            records.put(Math.max(0, operations - MAXIMUM));
            records.put(moreCalls);
        }
    }

    private static <T> List<T> kept(List<T> points) {
        return points.subList(0, Math.min(points.size(), RecordingObserver.MAXIMUM_POINTS));
    }

    private void put(long timeline, long value) {
        records.put(timeline);
        records.put(value);
    }

    /** Adds the memory held by a set of pools. */
    void pools(PoolRecords record) {
        records.begin(RecordType.POOLS_HOLD, record.words(true), cut, until);
        record.put(records, true);
    }

    /** Adds the names of the timelines of the recorded points of a fence. */
    void names(@Nullable Fence fence) {
        for (int i = 0; fence != null && i < RecordingObserver.points(fence); i++) {
            name(fence.semaphore(i).id(), fence.semaphore(i).name());
        }
    }

    private void name(long timeline, String name) {
        if (!name.isEmpty() && named.add(timeline)) {
            RecordText text = RecordText.of(name);
            records.begin(RecordType.TIMELINE, 1 + text.words(), cut, until);
            records.put(timeline);
            text.put(records);
        }
    }
}
