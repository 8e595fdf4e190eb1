package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.PendingOperation;
import java.time.Duration;
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
    private int calls;

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

    /** Begins the record of an operation, submitted at a time; returns null when there is no room. The caller puts the words. */
    @Nullable
    WordTarget operation(int words, long submitted) {
        if (operations == MAXIMUM) {
            return null;
        }
        operations++;
        records.begin(RecordType.OPEN, words, cut, submitted);
        return records;
    }

    /** Adds a call in progress. */
    void call(
            String program,
            String function,
            long number,
            String state,
            Duration age,
            List<PendingOperation.Wait> waits) {
        if (calls == MAXIMUM) {
            return;
        }
        calls++;
        List<PendingOperation.Wait> kept = waits.subList(0, Math.min(waits.size(), RecordingObserver.MAXIMUM_POINTS));
        records.begin(RecordType.CALL, 6 + 2 * kept.size(), cut, until);
        records.put(number);
        records.put(definitions.name(program));
        records.put(definitions.name(function));
        records.put(definitions.name(state));
        records.put(age.toNanos());
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
