package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import org.jspecify.annotations.Nullable;

/**
 * Work of the host between two fences: a blocking function of a program, a step in Java between two queues. Begun with
 * {@link SchedulingDomain#beginHostWork}.
 *
 * <p>Not thread-safe. A span dropped without {@link #end}, because the work failed, never appears on the axis.
 */
@NotForApplications
public final class HostSpan {
    private final SchedulingDomain domain;
    private final @Nullable MutableFrontier imported;
    private @Nullable Frontier frontier; // set by end()

    HostSpan(SchedulingDomain domain, @Nullable MutableFrontier imported) {
        this.domain = domain;
        this.imported = imported;
    }

    /**
     * Ends the work, before any signal. Idempotent.
     *
     * @return the predecessors of the end: the predecessors of the work, and the work's own entry on the host's axis
     */
    public Frontier end() {
        Frontier own = frontier;
        if (own == null) {
            own = domain.endHostWork(imported);
            frontier = own;
        }
        return own;
    }
}
