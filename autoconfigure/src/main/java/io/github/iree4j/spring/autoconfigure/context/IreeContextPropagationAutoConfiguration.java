package io.github.iree4j.spring.autoconfigure.context;

import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.context.ContextInvocationInterceptor;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshotFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;

/** {@link AutoConfiguration Auto-configuration} for {@link ContextInvocationInterceptor}. */
@AutoConfiguration(after = IreeAutoConfiguration.class)
@ConditionalOnClass({InvocationService.class, ContextSnapshotFactory.class})
@ConditionalOnBooleanProperty(name = "iree.enabled", matchIfMissing = true)
public final class IreeContextPropagationAutoConfiguration {

    /** For Spring. */
    IreeContextPropagationAutoConfiguration() {}

    /** Outermost interceptor. */
    @Bean
    @ConditionalOnMissingBean(name = "ireeCallerContext")
    ContextInvocationInterceptor ireeCallerContext() {
        return new ContextInvocationInterceptor(ContextRegistry.getInstance(), Ordered.HIGHEST_PRECEDENCE + 1000);
    }

    /** Innermost interceptor: also follows unordered interceptors, which were defined earlier. */
    @Bean
    @ConditionalOnMissingBean(name = "ireeInterceptorContext")
    ContextInvocationInterceptor ireeInterceptorContext() {
        return new ContextInvocationInterceptor(ContextRegistry.getInstance(), Ordered.LOWEST_PRECEDENCE);
    }
}
