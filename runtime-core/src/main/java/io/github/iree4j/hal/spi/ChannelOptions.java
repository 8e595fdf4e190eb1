package io.github.iree4j.hal.spi;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.ChannelParams;
import java.util.Objects;

/**
 * The device's participation in collectives: group and rank of channels leaving both to the device, such as the
 * channels of compiled programs.
 *
 * @param channel defaults for such a channel; for a group across processes with the id of
 *     {@link io.github.iree4j.hal.Device#createChannelId}, used by one program at a time
 */
@NotForApplications
public record ChannelOptions(ChannelParams channel) implements DriverOptions {
    /** A group of the device alone. */
    public static final ChannelOptions DEFAULTS =
            new ChannelOptions(ChannelParams.of(ChannelParams.DEFAULT, ChannelParams.DEFAULT));

    /** Checks. */
    public ChannelOptions {
        Objects.requireNonNull(channel, "channel");
    }
}
