package io.github.iree4j.spring.autoconfigure.client;

import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.client.IreeClientFactory;
import io.github.iree4j.spring.client.IreeClientFactoryBean;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
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
            InvocationOperations invocations, Programs programs, ConfigurableBeanFactory beans) {
        return new IreeClientFactory(invocations, new EmbeddedValueResolver(beans), programs);
    }

    /** Creates all clients at the start, also with lazy initialization, so that clients unlike their programs fail the start. */
    @Bean
    @ConditionalOnMissingBean(name = "ireeClientCheck")
    static SmartInitializingSingleton ireeClientCheck(ListableBeanFactory beans) {
        return () -> {
            for (String factory : beans.getBeanNamesForType(IreeClientFactoryBean.class, true, false)) {
                beans.getBean(BeanFactoryUtils.transformedBeanName(factory));
            }
        };
    }
}
