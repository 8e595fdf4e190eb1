package io.github.iree4j.spring.autoconfigure.serving;

import io.github.iree4j.spring.serving.ServingOptions;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.unit.DataSize;

/**
 * The {@code iree.serving.*} properties.
 *
 * @param enabled Whether to serve programs by the Open Inference Protocol under '/v2'.
 * @param maxRequestSize Most bytes that the body of a request may have.
 * @param maxConcurrentRequests Most requests for inference that may be in work at once.
 * @param repository Whether clients may load and unload modules, under '/v2/repository'.
 * @param functions Names of the functions that serve modules which have several, by the module's name.
 */
@ConfigurationProperties("iree.serving")
public record IreeServingProperties(
        @DefaultValue("false") boolean enabled,
        @DefaultValue("64MB") DataSize maxRequestSize,
        @DefaultValue("256") int maxConcurrentRequests,
        @DefaultValue("false") boolean repository,
        @DefaultValue Map<String, String> functions) {

    /** Checks ranges. */
    public IreeServingProperties {
        if (maxRequestSize.toBytes() < 1) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.serving.max-request-size", maxRequestSize, "It must be at least 1 byte.");
        }
        if (maxConcurrentRequests < 1) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.serving.max-concurrent-requests", maxConcurrentRequests, "It must be at least 1.");
        }
    }

    ServingOptions options() {
        return new ServingOptions(maxRequestSize.toBytes(), maxConcurrentRequests, repository);
    }
}
