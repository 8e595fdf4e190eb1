package io.github.iree4j.hal.spi;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.Nullable;

/**
 * The availability of a driver.
 *
 * @param available true if the driver can be used
 * @param reason the reason for the unavailability, with the remedy; null when the driver can be used
 */
@NotForApplications
public record Availability(boolean available, @Nullable String reason) {
    /** The driver can be used. */
    public static final Availability AVAILABLE = new Availability(true, null);

    /**
     * Returns the answer for an unusable driver.
     *
     * @param reason the reason, with the remedy
     * @return the answer
     */
    public static Availability unavailable(String reason) {
        return new Availability(false, reason);
    }
}
