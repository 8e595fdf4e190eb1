package io.github.iree4j.spring.autoconfigure.serving;

import io.github.iree4j.spring.autoconfigure.http.IreeHttpProperties;
import io.github.iree4j.spring.serving.ServingOptions;
import io.github.iree4j.spring.serving.ValueRange;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * The {@code iree.serving.*} properties.
 *
 * @param enabled Whether to serve programs over the Open Inference Protocol under '/v2'.
 * @param maxConcurrentRequests Maximum number of inference requests computed at once; only requests with complete
 *     bodies count. Zero for half of the threads of a servlet container, 256 at most.
 * @param maxWait Maximum wait of further requests before computation, and of requests for a model being loaded. A
 *     request that would wait longer, judging by the rate at which other requests end, is refused with 429 before the
 *     body is read. Zero refuses all requests that would wait.
 * @param repository Whether clients may load and unload modules, under '/v2/repository'.
 * @param functions Function serving a module with several functions, by module name.
 * @param strings Names of inputs and outputs holding texts in tensors of 8-bit integers, by module name. Such values
 *     are served as 'BYTES'.
 * @param ranges Range of the values of an input of whole numbers, by module name and input name, such as '0..30521'.
 *     Requests with other values are refused. For values used as indices: compiled code does not check indices.
 * @param grpc Serving over gRPC.
 */
@ConfigurationProperties("iree.serving")
public record IreeServingProperties(
        @DefaultValue("false") boolean enabled,
        @DefaultValue("0") int maxConcurrentRequests,
        @DefaultValue("1s") Duration maxWait,
        @DefaultValue("false") boolean repository,
        @DefaultValue Map<String, String> functions,
        @DefaultValue Map<String, Set<String>> strings,
        @DefaultValue Map<String, Map<String, String>> ranges,
        @DefaultValue Grpc grpc) {

    /**
     * Serving over gRPC.
     *
     * @param enabled Whether to serve programs over gRPC as well, where Spring Boot's gRPC server is present.
     * @param authentication Expected authentication of gRPC clients. The repository is served over gRPC only to
     *     authenticated clients.
     * @param maxCalls Maximum number of open calls of all clients and services, including streams and refused calls
     *     with an unsent status. Streams, which may be silent, are limited to a quarter of this number, and each client
     *     is asked to open at most an eighth on each connection.
     */
    public record Grpc(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("detected") Authentication authentication,
            @DefaultValue("4096") int maxCalls) {

        /** The expected authentication of gRPC clients. */
        public enum Authentication {
            /** The security of Spring gRPC, if the application has Spring gRPC security; a warning reports when only HTTP is secured. */
            DETECTED,
            /** The security of Spring gRPC: the application does not start without this security. */
            REQUIRED,
            /** A mechanism unknown here, such as an interceptor of the application, certificates of clients, or a proxy. */
            ELSEWHERE
        }

        /** Checks ranges. */
        public Grpc {
            if (maxCalls < 4) {
                throw new InvalidConfigurationPropertyValueException(
                        "iree.serving.grpc.max-calls", maxCalls, "It must be at least 4.");
            }
        }
    }

    /** Checks ranges. */
    public IreeServingProperties {
        if (maxConcurrentRequests < 0) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.serving.max-concurrent-requests", maxConcurrentRequests, "It must not be negative.");
        }
        if (maxWait.isNegative()) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.serving.max-wait", maxWait, "It must not be negative.");
        }
    }

    /** Returns the ranges of values, by module name and input name. */
    Map<String, Map<String, ValueRange>> valueRanges() {
        Map<String, Map<String, ValueRange>> all = new TreeMap<>();
        ranges.forEach((module, inputs) -> inputs.forEach((input, range) -> {
            try {
                all.computeIfAbsent(module, unused -> new TreeMap<>()).put(input, ValueRange.of(range));
            } catch (IllegalArgumentException e) {
                throw new InvalidConfigurationPropertyValueException(
                        "iree.serving.ranges.%s.%s".formatted(module, input), range, e.getMessage() + ".");
            }
        }));
        return all;
    }

    ServingOptions options(IreeHttpProperties http, int requests) {
        return new ServingOptions(
                http.maxRequestSize().toBytes(),
                maxConcurrentRequests == 0 ? requests : maxConcurrentRequests,
                maxWait,
                repository);
    }
}
