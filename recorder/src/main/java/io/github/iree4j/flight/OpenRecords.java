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
 * Records of the operations and calls in progress when a recording is taken, and of the names of their timelines.
 * Confined to one thread.
 */
final class OpenRecords {
    /** The most operations, and the most calls; a queue holds more back only for a runaway submitter. */
    static final int MAXIMUM = 1 << 16;

    private final RecordWords records = new RecordWords();
    private final Definitions definitions;
    private final long cut;
    private final long until;
    private final Set<Long> named = new HashSet<>();
    private int operations;

    /** A call in progress, as in {@link SchedulingDomain.CallVisitor}. */
    record Call(
            String program,
            String function,
            long number,
            String state,
            Duration age,
            List<PendingOperation.Wait> waits) {}

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

    /** Returns whether there is no room for an operation. */
    boolean isFull() {
        return operations == MAXIMUM;
    }

    /** Begins the record of an operation, submitted at a time; there is room. The caller puts the words. */
    WordTarget operation(int words, long submitted) {
        operations++;
        records.begin(RecordType.OPEN, words, cut, submitted);
        return records;
    }

    /** Returns the calls of a domain in progress. */
    static List<Call> calls(SchedulingDomain domain) {
        List<Call> calls = new ArrayList<>();
        domain.forEachOpenCall((program, function, number, state, age, waits) -> {
            if (calls.size() < MAXIMUM) {
                calls.add(new Call(program, function, number, state, age, waits));
            }
        });
        return calls;
    }

    /** Adds a call in progress. */
    void call(Call call) {
        List<PendingOperation.Wait> waits = call.waits();
        List<PendingOperation.Wait> kept = waits.subList(0, Math.min(waits.size(), RecordingObserver.MAXIMUM_POINTS));
        records.begin(RecordType.CALL, 6 + 2 * kept.size(), cut, until);
        records.put(call.number());
        records.put(definitions.name(call.program()));
        records.put(definitions.name(call.function()));
        records.put(definitions.name(call.state()));
        records.put(call.age().toNanos());
        records.put(kept.size());
        for (PendingOperation.Wait each : kept) {
            records.put(each.semaphore());
            records.put(each.value());
        }
        kept.forEach(each -> name(each.semaphore(), each.timeline()));
    }

    /** Adds the names of the timelines of a fence. */
    void names(@Nullable Fence fence) {
        for (int i = 0; fence != null && i < fence.size(); i++) {
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
