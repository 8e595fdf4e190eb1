package io.github.iree4j.spring.autoconfigure.resilience;

import io.github.iree4j.spring.CallTimeouts;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.IreeProperties;
import io.github.iree4j.spring.autoconfigure.IreeProperties.Resilience;
import io.github.iree4j.spring.resilience.ModelProtection;
import io.github.iree4j.spring.resilience.ResilienceInterceptor;
import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.bulkhead.BulkheadRegistry;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.github.resilience4j.retry.RetryRegistry;
import io.github.resilience4j.timelimiter.TimeLimiterRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * {@link AutoConfiguration Auto-configuration} for call timeouts, and for circuit breakers, bulkheads, time limiters
 * and retries when Resilience4j is present. Each instance is registered under {@code iree.} and the program's name;
 * with {@code resilience4j-spring-boot4} the registries are configured by the {@code resilience4j.*} properties and
 * have the corresponding metrics, events and endpoints.
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
    IreeResilienceAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    CallTimeouts ireeCallTimeouts(IreeProperties properties) {
        return new CallTimeouts(properties.invocation().timeout(), properties.callTimeouts());
    }

    @Bean
    @ConditionalOnMissingBean(name = "ireeTimeoutReload")
    TimeoutReload ireeTimeoutReload(CallTimeouts timeouts, ObjectProvider<Programs> programs, Environment environment) {
        return new TimeoutReload(timeouts, programs, environment);
    }

    /** Configuration without Resilience4j. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingClass("io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry")
    static class WithoutResilience4jConfiguration {

        WithoutResilience4jConfiguration(IreeProperties properties) {
            properties.modules().forEach((name, module) -> {
                Resilience wanted = module.resilience();
                require(name, "circuit-breaker", wanted.circuitBreaker());
                require(name, "bulkhead", wanted.bulkhead());
                require(name, "time-limiter", wanted.timeLimiter());
                require(name, "retry", wanted.retry());
            });
        }

        private static void require(String module, String property, boolean wanted) {
            if (wanted) {
                throw new Resilience4jMissingException("iree.modules.%s.resilience.%s".formatted(module, property));
            }
        }
    }

    /** Configuration with Resilience4j. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({
        CircuitBreakerRegistry.class,
        BulkheadRegistry.class,
        RetryRegistry.class,
        TimeLimiterRegistry.class
    })
    static class Resilience4jConfiguration {

        @Bean
        @ConditionalOnMissingBean
        ResilienceInterceptor ireeResilienceInterceptor(
                IreeProperties properties,
                ObjectProvider<CircuitBreakerRegistry> breakers,
                ObjectProvider<BulkheadRegistry> bulkheads,
                ObjectProvider<RetryRegistry> retries,
                ObjectProvider<TimeLimiterRegistry> limiters) {
            CircuitBreakerRegistry breaker = breakers.getIfAvailable(CircuitBreakerRegistry::ofDefaults);
            BulkheadRegistry bulkhead = bulkheads.getIfAvailable(BulkheadRegistry::ofDefaults);
            RetryRegistry retry = retries.getIfAvailable(RetryRegistry::ofDefaults);
            TimeLimiterRegistry limiter = limiters.getIfAvailable(TimeLimiterRegistry::ofDefaults);
            Map<String, ModelProtection> models = new HashMap<>();
            properties.modules().forEach((model, module) -> {
                Resilience wanted = module.resilience();
                String name = "iree." + model;
                if (wanted.circuitBreaker() || wanted.bulkhead() || wanted.retry() || wanted.timeLimiter()) {
                    models.put(
                            model,
                            new ModelProtection(
                                    wanted.circuitBreaker() ? breaker.circuitBreaker(name) : null,
                                    wanted.bulkhead() ? withoutWaiting(bulkhead.bulkhead(name)) : null,
                                    wanted.timeLimiter()
                                            ? limiter.timeLimiter(name)
                                                    .getTimeLimiterConfig()
                                                    .getTimeoutDuration()
                                            : null,
                                    wanted.retry() ? retry.retry(name) : null));
                }
            });
            return new ResilienceInterceptor(models);
        }

        /** Makes a bulkhead reject at once: callers may be on threads that must not block. */
        private static Bulkhead withoutWaiting(Bulkhead bulkhead) {
            if (!bulkhead.getBulkheadConfig().getMaxWaitDuration().isZero()) {
                bulkhead.changeConfig(BulkheadConfig.from(bulkhead.getBulkheadConfig())
                        .maxWaitDuration(Duration.ZERO)
                        .build());
            }
            return bulkhead;
        }
    }
}
