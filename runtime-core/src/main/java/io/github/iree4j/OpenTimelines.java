package io.github.iree4j;

import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.async.TimelineSemaphore;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;

/** The timelines created by a runtime. Callers close the timelines. Safe from any thread. */
final class OpenTimelines {
    /** Kept by a timeline, or by a fence alone; guarded by itself. */
    private final Set<TimelineSemaphore> timelines = Collections.newSetFromMap(new WeakHashMap<>());

    /** Creates a timeline at 0 with a history of the given number of signals; the caller closes the timeline. */
    Timeline create(String name, int history) {
        Timeline timeline = Timeline.create(SemaphoreOptions.DEFAULTS.withHistoryCapacity(history));
        timeline.semaphore().setName(name);
        synchronized (timelines) {
            timelines.add(timeline.semaphore());
        }
        return timeline;
    }

    /** The open and reachable timelines, by id. */
    List<TimelineSemaphore> list() {
        synchronized (timelines) {
            return timelines.stream()
                    .filter(TimelineSemaphore::isLive)
                    .sorted(Comparator.comparingLong(TimelineSemaphore::id))
                    .toList();
        }
    }
}
