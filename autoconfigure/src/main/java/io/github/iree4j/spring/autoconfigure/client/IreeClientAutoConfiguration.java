package io.github.iree4j.spring.autoconfigure.client;

import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Import;

/** {@link AutoConfiguration Auto-configuration} for the {@code @IreeClient} interfaces in the packages of the application. */
@AutoConfiguration(after = IreeAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "iree.enabled", matchIfMissing = true)
@Import(IreeClientRegistrar.class)
public final class IreeClientAutoConfiguration {

    /** For Spring. */
    IreeClientAutoConfiguration() {}
}
