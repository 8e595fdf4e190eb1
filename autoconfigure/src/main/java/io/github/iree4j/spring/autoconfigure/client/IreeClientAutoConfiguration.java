package io.github.iree4j.spring.autoconfigure.client;

import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.client.IreeClientFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** {@link AutoConfiguration Auto-configuration} for the {@code @IreeClient} interfaces in the packages of the application. */
@AutoConfiguration(after = IreeAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "iree.enabled", matchIfMissing = true)
@Import(IreeClientRegistrar.class)
public final class IreeClientAutoConfiguration {

    /** For Spring. */
    IreeClientAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    IreeClientFactory ireeClientFactory(
            InvocationService invocations, Programs programs, ConfigurableBeanFactory beans) {
        return new IreeClientFactory(invocations, new EmbeddedValueResolver(beans), programs);
    }
}
