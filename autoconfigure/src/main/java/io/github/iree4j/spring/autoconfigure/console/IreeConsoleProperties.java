package io.github.iree4j.spring.autoconfigure.console;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * The {@code iree.console.*} properties.
 *
 * @param enabled Whether to serve the console, a page showing scenarios and the running system.
 * @param path Path of the console.
 */
@ConfigurationProperties("iree.console")
public record IreeConsoleProperties(
        @DefaultValue("false") boolean enabled,
        @DefaultValue("/iree") String path) {

    /** Checks the path. */
    public IreeConsoleProperties {
        if (!path.matches("(/[\\w.~-]+)+")) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.console.path",
                    path,
                    "It must be one or more segments of letters, digits, '-', '_', '.' and '~', each after a slash.");
        }
    }
}
