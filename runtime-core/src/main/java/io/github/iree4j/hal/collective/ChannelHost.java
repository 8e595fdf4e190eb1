package io.github.iree4j.hal.collective;

/** A device, for its channels. Safe from any thread. */
public interface ChannelHost {

    /**
     * Returns what it has in common with those that it can meet.
     *
     * @return always the same
     */
    CollectiveBackend collectives();

    /**
     * Registers a channel, which fails when the device is closed or lost before it.
     *
     * @param channel a new channel
     * @return the same
     */
    GroupChannel adopt(GroupChannel channel);

    /**
     * The participant has a rank. Does not wait for the others.
     *
     * @param channel one that was adopted
     * @throws io.github.iree4j.status.IreeException if it cannot take part
     */
    default void joined(GroupChannel channel) {}

    /**
     * A channel is closed.
     *
     * @param channel one that was adopted
     */
    void forget(GroupChannel channel);
}
