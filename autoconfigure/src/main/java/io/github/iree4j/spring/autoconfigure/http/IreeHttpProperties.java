package io.github.iree4j.spring.autoconfigure.http;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.unit.DataSize;

/**
 * The {@code iree.http.*} properties.
 *
 * @param maxTensorSize Maximum size of a tensor in a request body.
 * @param problemDetails Whether to render failures of calls as problem details.
 */
@ConfigurationProperties("iree.http")
public record IreeHttpProperties(
        @DefaultValue("64MB") DataSize maxTensorSize,
        @DefaultValue("true") boolean problemDetails) {

    /** Checks ranges. */
    public IreeHttpProperties {
        if (maxTensorSize.toBytes() < 1 || maxTensorSize.toBytes() > Integer.MAX_VALUE - 8) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.http.max-tensor-size", maxTensorSize, "It must be between 1 byte and 2 GB.");
        }
    }
}
