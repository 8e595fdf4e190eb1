package io.github.iree4j.hal.collective;

/** The common ground of devices whose channels can be in one group. Devices with equal objects can meet. */
public interface CollectiveBackend {

    /**
     * Begins the work of a group.
     *
     * @param group the new group, without participants
     * @return the worker for the meetings of the group
     */
    GroupWork begin(ChannelGroup group);

    /**
     * Returns whether a name stands for a group whose other participants may be in other processes.
     *
     * @param id name of a group
     * @return false where groups are limited to the process; also the result unless overridden
     */
    default boolean spansProcesses(String id) {
        return false;
    }
}
