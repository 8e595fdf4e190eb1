package io.github.iree4j.hal;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import org.jspecify.annotations.Nullable;

/**
 * Work that the host does itself between two fences: a function of a program that blocks, a step in Java between two queues. Begun with
 * {@link SchedulingDomain#beginHostWork}.
 *
 * <p>Not safe from several threads at once. One that is dropped without its end, because the work failed, has never been on the axis.
 */
public final class HostSpan {
    private final SchedulingDomain domain;
    private final @Nullable MutableFrontier imported;
    private @Nullable Frontier frontier; // once over

    HostSpan(SchedulingDomain domain, @Nullable MutableFrontier imported) {
        this.domain = domain;
        this.imported = imported;
    }

    /**
     * Says that the work is over, before anything is signalled. Called again it says the same.
     *
     * @return what happens before its end: what it followed, and its own entry on the axis of the host
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
