package io.github.iree4j.hal.spi;

import io.github.iree4j.hal.ChannelParams;
import java.util.Objects;

/**
 * Which participant of collectives a device is: the group and the rank of channels that leave both to the device, as those of compiled programs
 * do.
 *
 * @param channel what is taken for what such a channel does not say; for a group that spans processes with the id of {@link
 *     io.github.iree4j.hal.Device#createChannelId}, which one program at a time uses
 */
public record ChannelOptions(ChannelParams channel) implements DriverOptions {
    /** A group of the device alone. */
    public static final ChannelOptions DEFAULT =
            new ChannelOptions(ChannelParams.of(ChannelParams.DEFAULT, ChannelParams.DEFAULT));

    /** Checks. */
    public ChannelOptions {
        Objects.requireNonNull(channel, "channel");
    }
}
