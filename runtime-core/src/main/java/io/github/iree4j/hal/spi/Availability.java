package io.github.iree4j.hal.spi;

import org.jspecify.annotations.Nullable;

/**
 * Whether a driver can be used.
 *
 * @param available true if it can
 * @param reason why not, with the remedy; null when it can
 */
public record Availability(boolean available, @Nullable String reason) {
    /** The driver can be used. */
    public static final Availability AVAILABLE = new Availability(true, null);

    /**
     * It cannot be used.
     *
     * @param reason why not, with the remedy
     * @return the answer
     */
    public static Availability unavailable(String reason) {
        return new Availability(false, reason);
    }
}
