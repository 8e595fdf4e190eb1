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
 * @param maxInFlightSize Maximum memory of requests in flight: received bytes, memory allocated for these bytes, and
 *     answers until clients have read the answers. Answers may use half. A quarter of the heap when not set. Inputs
 *     wait in this memory while calls wait for device memory.
 * @param bodyTimeout Maximum time for a request body to arrive, plus a second for each 64 KB of the body. Clients may
 *     take as long to read an answer, and are then disconnected; while other requests are refused for the answer's
 *     memory, the timeout alone applies.
 * @param maxConcurrentBodies Maximum number of request bodies awaited at once. Zero for a quarter of the threads of a
 *     servlet container, or 1024 for requests with virtual threads or without threads.
 * @param problemDetails Whether to render failures of calls in all controllers, and refusals of bodies with tensors, as
 *     problem details. Same as 'spring.mvc.problemdetails.enabled', or 'spring.webflux.problemdetails.enabled', when
 *     not set.
 * @param watchClients Whether a call awaited by the thread of a request ends when the client closes the connection, with
 *     Spring MVC on Tomcat. Every request then passes a valve. When not set, true with 'iree.serving.enabled' or
 *     'iree.openai.enabled'.
 */
@ConfigurationProperties("iree.http")
public record IreeHttpProperties(
        @DefaultValue("64MB") DataSize maxRequestSize,
        @Nullable DataSize maxInFlightSize,
        @DefaultValue("10s") Duration bodyTimeout,
        @DefaultValue("0") int maxConcurrentBodies,
        @Nullable Boolean problemDetails,
        @Nullable Boolean watchClients) {

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

    /** Returns the limits of bodies; unless configured, a share of the heap and the given number of bodies. */
    BodyLimits limits(int bodies) {
        return new BodyLimits(
                maxInFlightSize != null
                        ? maxInFlightSize.toBytes()
                        : Math.max(1, Runtime.getRuntime().maxMemory() / SHARE),
                bodyTimeout,
                maxConcurrentBodies == 0 ? bodies : maxConcurrentBodies);
    }
}
