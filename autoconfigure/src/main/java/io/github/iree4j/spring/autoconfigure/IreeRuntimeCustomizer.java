package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.RuntimeBuilder;

/**
 * Callback customizing the runtime before the runtime is opened. Beans of this type are applied in their order, after
 * the properties.
 */
@FunctionalInterface
public interface IreeRuntimeCustomizer {

    /**
     * Customizes the builder.
     *
     * @param builder the builder of the auto-configured runtime
     */
    void customize(RuntimeBuilder builder);
}
