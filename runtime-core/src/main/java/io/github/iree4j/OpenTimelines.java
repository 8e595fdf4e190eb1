package io.github.iree4j;

import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.Timeline;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;

/** The timelines created by a runtime. Callers close the timelines. Safe from any thread. */
final class OpenTimelines {
    private final Set<Timeline> timelines = Collections.newSetFromMap(new WeakHashMap<>()); // guarded by itself

    /** Creates a timeline at 0 with a history of the given number of signals; the caller closes the timeline. */
    Timeline create(String name, int history) {
        Timeline timeline = Timeline.create(SemaphoreOptions.DEFAULT.withHistoryCapacity(history));
        timeline.semaphore().setName(name);
        synchronized (timelines) {
            timelines.add(timeline);
        }
        return timeline;
    }

    /** The open and reachable timelines, by id. */
    List<Timeline> list() {
        synchronized (timelines) {
            return timelines.stream()
                    .filter(timeline -> timeline.semaphore().isLive())
                    .sorted(Comparator.comparingLong(
                            timeline -> timeline.semaphore().id()))
                    .toList();
        }
    }
}
