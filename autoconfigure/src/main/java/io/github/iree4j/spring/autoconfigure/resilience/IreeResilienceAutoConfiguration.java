package io.github.iree4j.spring.autoconfigure.resilience;

import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.IreeProperties;
import io.github.iree4j.spring.resilience.ResilienceInterceptor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;

/**
 * {@link AutoConfiguration Auto-configuration} for call timeouts, and for circuit breakers, bulkheads, time limiters
 * and retries when the library of Resilience4j for each is present. Each instance is registered under {@code iree.} and
 * the program's name; with {@code resilience4j-spring-boot4} the registries are configured by the {@code resilience4j.*}
 * properties and have the corresponding metrics, events and endpoints.
 */
@AutoConfiguration(
        before = IreeAutoConfiguration.class,
        afterName = {
            "io.github.resilience4j.springboot.bulkhead.autoconfigure.BulkheadAutoConfiguration",
            "io.github.resilience4j.springboot.circuitbreaker.autoconfigure.CircuitBreakerAutoConfiguration",
            "io.github.resilience4j.springboot.retry.autoconfigure.RetryAutoConfiguration",
            "io.github.resilience4j.springboot.timelimiter.autoconfigure.TimeLimiterAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "iree.enabled", matchIfMissing = true)
@EnableConfigurationProperties(IreeProperties.class)
public final class IreeResilienceAutoConfiguration {

    /** For Spring. */
    IreeResilienceAutoConfiguration(IreeProperties properties, ResourceLoader resources) {
        Protections.requireLibraries(properties.modules(), resources.getClassLoader());
    }

    @Bean
    @ConditionalOnMissingBean(name = "ireeTimeoutReload")
    TimeoutReload ireeTimeoutReload(ObjectProvider<Programs> programs, Environment environment) {
        return new TimeoutReload(programs, environment);
    }

    /** Part of each library of Resilience4j, so present with any of the libraries. */
    @Bean
    @ConditionalOnClass(name = "io.github.resilience4j.core.Registry")
    @ConditionalOnMissingBean
    ResilienceInterceptor ireeResilienceInterceptor(IreeProperties properties, BeanFactory registries) {
        return new ResilienceInterceptor(new Protections(registries).of(properties.modules()));
    }
}
