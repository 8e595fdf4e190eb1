package io.github.iree4j.spring.autoconfigure.serving;

import io.github.iree4j.spring.serving.ServedModels;
import io.github.iree4j.spring.serving.ServingOptions;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
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
 * @param models Options of models by name, for those that need any.
 */
@ConfigurationProperties("iree.serving")
public record IreeServingProperties(
        @DefaultValue("false") boolean enabled,
        @DefaultValue("64MB") DataSize maxRequestSize,
        @DefaultValue("256") int maxConcurrentRequests,
        @DefaultValue Map<String, Model> models) {

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

    /**
     * One model.
     *
     * @param function Function that serves the model. The only one of its program when not set.
     * @param versions Names of modules by version. The module of the model's name when not set.
     */
    public record Model(
            @Nullable String function, @DefaultValue Map<String, String> versions) {}

    ServingOptions options() {
        return new ServingOptions(maxRequestSize.toBytes(), maxConcurrentRequests);
    }

    Map<String, ServedModels.Model> served() {
        Map<String, ServedModels.Model> served = new LinkedHashMap<>();
        models.forEach((name, model) -> served.put(name, new ServedModels.Model(model.function(), model.versions())));
        return served;
    }
}
