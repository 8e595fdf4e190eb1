package io.github.iree4j.spring.autoconfigure.http;

import io.github.iree4j.spring.http.BodyLimits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.unit.DataSize;

/**
 * The {@code iree.http.*} properties.
 *
 * @param maxRequestSize Maximum size of a request body with tensors, of the open inference protocol or of a controller.
 * @param maxInFlightSize Maximum memory of requests in flight: of what they have sent, of what is allocated for it, and of answers until clients have read them, for which half of it is. A quarter of the heap when not set. Inputs wait there while calls wait for memory of devices.
 * @param bodyTimeout Maximum time that a request body takes to arrive, plus a second for each 64 KB of it. Clients may take as long to read an answer, and are then disconnected; while others are refused for its memory, they have this time alone.
 * @param maxConcurrentBodies Maximum number of request bodies that are awaited at once. Zero for a quarter of the threads of a servlet container, or 1024 where requests have virtual threads or none.
 * @param problemDetails Whether to render failures of calls in all controllers as problem details. Same as
 *     'spring.mvc.problemdetails.enabled', or 'spring.webflux.problemdetails.enabled', when not set.
 */
@ConfigurationProperties("iree.http")
public record IreeHttpProperties(
        @DefaultValue("64MB") DataSize maxRequestSize,
        @Nullable DataSize maxInFlightSize,
        @DefaultValue("10s") Duration bodyTimeout,
        @DefaultValue("0") int maxConcurrentBodies,
        @Nullable Boolean problemDetails) {

    private static final int SHARE = 4;

    /** Checks ranges. */
    public IreeHttpProperties {
        if (maxRequestSize.toBytes() < 1 || maxRequestSize.toBytes() > Integer.MAX_VALUE - 8) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.http.max-request-size", maxRequestSize, "It must be between 1 byte and 2 GB.");
        }
        if (maxInFlightSize != null && maxInFlightSize.toBytes() < 1) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.http.max-in-flight-size", maxInFlightSize, "It must be at least 1 byte.");
        }
        if (!bodyTimeout.isPositive()) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.http.body-timeout", bodyTimeout, "It must be positive.");
        }
        if (maxConcurrentBodies < 0) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.http.max-concurrent-bodies", maxConcurrentBodies, "It must not be negative.");
        }
    }

    /** The limits of bodies, where nothing is configured of a share of the heap and of that many bodies. */
    BodyLimits limits(int bodies) {
        return new BodyLimits(
                maxInFlightSize != null
                        ? maxInFlightSize.toBytes()
                        : Math.max(1, Runtime.getRuntime().maxMemory() / SHARE),
                bodyTimeout,
                maxConcurrentBodies == 0 ? bodies : maxConcurrentBodies);
    }
}
