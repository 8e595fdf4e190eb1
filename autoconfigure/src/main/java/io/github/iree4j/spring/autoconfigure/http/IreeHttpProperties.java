package io.github.iree4j.spring.autoconfigure.http;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.unit.DataSize;

/**
 * The {@code iree.http.*} properties.
 *
 * @param maxTensorSize Maximum size of a tensor in a request body.
 * @param problemDetails Whether to render failures of calls in all controllers as problem details. Same as
 *     'spring.mvc.problemdetails.enabled', or 'spring.webflux.problemdetails.enabled', when not set.
 */
@ConfigurationProperties("iree.http")
public record IreeHttpProperties(
        @DefaultValue("64MB") DataSize maxTensorSize,
        @Nullable Boolean problemDetails) {

    /** Checks ranges. */
    public IreeHttpProperties {
        if (maxTensorSize.toBytes() < 1 || maxTensorSize.toBytes() > Integer.MAX_VALUE - 8) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.http.max-tensor-size", maxTensorSize, "It must be between 1 byte and 2 GB.");
        }
    }
}
