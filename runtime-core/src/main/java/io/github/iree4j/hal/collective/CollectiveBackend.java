package io.github.iree4j.hal.collective;

/** What devices whose channels can be in one group have in common. Equal objects can meet. */
public interface CollectiveBackend {

    /**
     * Begins the work of a group.
     *
     * @param group the new group, without participants
     * @return does the work of its meetings
     */
    GroupWork begin(ChannelGroup group);

    /**
     * Returns whether a name stands for a group whose other participants may be in other processes.
     *
     * @param id name of a group
     * @return false where groups are within the process, which is what this method returns unless overridden
     */
    default boolean spansProcesses(String id) {
        return false;
    }
}
