package io.github.iree4j.hal.collective;

import io.github.iree4j.status.IreeException;
import java.util.List;

/** Does the work of the meetings of one group. Safe from any thread. */
public interface GroupWork {

    /**
     * Does the work of meetings whose participants have all arrived. {@link ChannelGroup#over} follows once for each, now or later, on any
     * thread.
     *
     * @param meetings those that became complete together, in the order of their tickets; none is a split
     */
    void hold(List<Meetings.Meeting> meetings);

    /**
     * The group has failed: what is under way is to end soon, with that cause. Called once, with no lock held.
     *
     * @param cause the cause
     */
    default void failed(IreeException cause) {}
}
