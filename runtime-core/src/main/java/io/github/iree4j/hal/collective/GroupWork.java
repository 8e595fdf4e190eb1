package io.github.iree4j.hal.collective;

import io.github.iree4j.status.IreeException;
import java.util.List;

/** Does the work of the meetings of a group. Safe from any thread. */
public interface GroupWork {

    /**
     * Does the work of meetings after all participants have arrived. {@link ChannelGroup#over} follows once for each
     * meeting, now or later, on any thread.
     *
     * @param meetings meetings completed together, in the order of their tickets; no meeting is a split
     */
    void hold(List<Meetings.Meeting> meetings);

    /**
     * Ends the running work of a failed group soon, with the cause of the failure. Called once, with no lock held.
     *
     * @param cause the cause
     */
    default void failed(IreeException cause) {}
}
