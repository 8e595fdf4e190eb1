package io.github.iree4j.spring.autoconfigure.client;

import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.client.IreeClientFactory;
import io.github.iree4j.spring.client.IreeClientFactoryBean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
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

    private static final Logger log = LoggerFactory.getLogger(IreeClientAutoConfiguration.class);

    /** For Spring. */
    IreeClientAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    IreeClientFactory ireeClientFactory(
            ObjectProvider<InvocationOperations> invocations,
            InvocationService service,
            Programs programs,
            ConfigurableBeanFactory beans) {
        return new IreeClientFactory(
                invocations.getIfUnique(() -> ofSeveral(service)), new EmbeddedValueResolver(beans), programs);
    }

    /** The other callers choose in the same way; applications notice clients first. */
    private static InvocationOperations ofSeveral(InvocationService service) {
        log.info(
                "There are several beans of type InvocationOperations, and none is primary: clients, the reactive service and models of Spring AI call InvocationService. Mark a bean as primary, or the others with defaultCandidate = false");
        return service;
    }

    /** Creates all clients at the start, also with lazy initialization: clients unlike the called programs fail the start. */
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
