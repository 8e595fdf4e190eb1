package io.github.iree4j.hal.collective;

/** A device, as seen by its channels. Safe from any thread. */
public interface ChannelHost {

    /**
     * Returns the common ground of this device and the devices that can meet this device.
     *
     * @return always the same object
     */
    CollectiveBackend collectives();

    /**
     * Registers a channel; the channel fails when the device is closed or lost before the channel.
     *
     * @param channel a new channel
     * @return the same channel
     */
    GroupChannel adopt(GroupChannel channel);

    /**
     * Notifies the device of a rank taken by the participant. Does not wait for the others.
     *
     * @param channel an adopted channel
     * @throws io.github.iree4j.status.IreeException if the participant cannot take part
     */
    default void joined(GroupChannel channel) {}

    /**
     * Notifies the device of a closed channel.
     *
     * @param channel an adopted channel
     */
    void forget(GroupChannel channel);
}
