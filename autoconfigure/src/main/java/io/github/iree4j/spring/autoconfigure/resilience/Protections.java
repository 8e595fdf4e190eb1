package io.github.iree4j.spring.autoconfigure.resilience;

import io.github.iree4j.spring.autoconfigure.IreeProperties;
import io.github.iree4j.spring.autoconfigure.IreeProperties.Resilience;
import io.github.iree4j.spring.resilience.ModelProtection;
import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.bulkhead.BulkheadRegistry;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryRegistry;
import io.github.resilience4j.timelimiter.TimeLimiterRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.util.ClassUtils;

/**
 * The wanted protections of programs, from the registries of the context. Each library is optional: a method that
 * refers to a library runs only if a program wants the library's protection. No bean, since Spring resolves the types
 * in declarations of a bean's class.
 */
final class Protections {

    private final BeanFactory registries;

    Protections(BeanFactory registries) {
        this.registries = registries;
    }

    /**
     * Checks that the library of each wanted protection is present.
     *
     * @throws Resilience4jMissingException when a library is missing
     */
    static void requireLibraries(Map<String, IreeProperties.Module> modules, @Nullable ClassLoader loader) {
        modules.forEach((name, module) -> {
            Resilience wanted = module.resilience();
            require(wanted.circuitBreaker(), name, "circuit-breaker", "CircuitBreakerRegistry", loader);
            require(wanted.bulkhead(), name, "bulkhead", "BulkheadRegistry", loader);
            require(wanted.timeLimiter(), name, "time-limiter", "TimeLimiterRegistry", loader);
            require(wanted.retry(), name, "retry", "RetryRegistry", loader);
        });
    }

    private static void require(
            boolean wanted, String module, String protection, String type, @Nullable ClassLoader loader) {
        String library = protection.replace("-", "");
        if (wanted && !ClassUtils.isPresent("io.github.resilience4j.%s.%s".formatted(library, type), loader)) {
            throw new Resilience4jMissingException(
                    "iree.modules.%s.resilience.%s".formatted(module, protection), "resilience4j-" + library);
        }
    }

    /** Returns the protection of each program for which a protection is wanted. */
    Map<String, ModelProtection> of(Map<String, IreeProperties.Module> modules) {
        Map<String, ModelProtection> protections = new HashMap<>();
        modules.forEach((name, module) -> {
            Resilience wanted = module.resilience();
            if (wanted.circuitBreaker() || wanted.bulkhead() || wanted.timeLimiter() || wanted.retry()) {
                protections.put(name, of(wanted, "iree." + name));
            }
        });
        return protections;
    }

    private ModelProtection of(Resilience wanted, String name) {
        return new ModelProtection(
                wanted.circuitBreaker() ? circuitBreaker(name) : null,
                wanted.bulkhead() ? bulkhead(name) : null,
                wanted.timeLimiter() ? timeLimit(name) : null,
                wanted.retry() ? retry(name) : null);
    }

    private CircuitBreaker circuitBreaker(String name) {
        return registries
                .getBeanProvider(CircuitBreakerRegistry.class)
                .getIfAvailable(CircuitBreakerRegistry::ofDefaults)
                .circuitBreaker(name);
    }

    /** Returns a bulkhead that rejects at once: callers may be on threads that must not block. */
    private Bulkhead bulkhead(String name) {
        Bulkhead bulkhead = registries
                .getBeanProvider(BulkheadRegistry.class)
                .getIfAvailable(BulkheadRegistry::ofDefaults)
                .bulkhead(name);
        if (!bulkhead.getBulkheadConfig().getMaxWaitDuration().isZero()) {
            bulkhead.changeConfig(BulkheadConfig.from(bulkhead.getBulkheadConfig())
                    .maxWaitDuration(Duration.ZERO)
                    .build());
        }
        return bulkhead;
    }

    private Duration timeLimit(String name) {
        return registries
                .getBeanProvider(TimeLimiterRegistry.class)
                .getIfAvailable(TimeLimiterRegistry::ofDefaults)
                .timeLimiter(name)
                .getTimeLimiterConfig()
                .getTimeoutDuration();
    }

    private Retry retry(String name) {
        return registries
                .getBeanProvider(RetryRegistry.class)
                .getIfAvailable(RetryRegistry::ofDefaults)
                .retry(name);
    }
}
