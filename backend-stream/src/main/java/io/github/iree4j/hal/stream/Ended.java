package io.github.iree4j.hal.stream;

import io.github.iree4j.async.HeldCallbacks;
import java.util.ArrayList;
import java.util.List;

/** The streams with completed entries, collected under a lock and reported without the lock. Confined to one thread. */
final class Ended {
    private final List<HardwareStream> streams = new ArrayList<>(1);
    private int count;

    /** Adds a completed entry; called under the lock of the entry's hardware queue. */
    void add(StreamEntry entry) {
        entry.stream.over.add(entry);
        if (!streams.contains(entry.stream)) {
            streams.add(entry.stream);
        }
        count++;
    }

    /**
     * Reports to the schedulers, and then runs the callbacks made due by the reports; repeats until nothing is left to
     * report. Returns the number of ended operations.
     */
    int report() {
        int[] reported = new int[streams.size()];
        for (boolean more = true; more; ) {
            more = false;
            boolean held = HeldCallbacks.begin();
            try {
                for (int i = 0; i < reported.length; i++) {
                    reported[i] = streams.get(i).reportCompleted();
                    more |= reported[i] > 0;
                }
            } finally {
                HeldCallbacks.end(held);
                for (int i = 0; i < reported.length; i++) {
                    streams.get(i).exit(reported[i]);
                    reported[i] = 0;
                }
            }
        }
        return count;
    }
}
