package io.github.iree4j.spring.autoconfigure.observation;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.observation.InvocationObservationConvention;
import io.github.iree4j.spring.observation.ObservationInvocationInterceptor;
import io.github.iree4j.spring.observation.ObservedCallNumbers;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** {@link AutoConfiguration Auto-configuration} for {@link ObservationInvocationInterceptor}. */
@AutoConfiguration(
        after = IreeAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration")
@ConditionalOnClass({IreeRuntime.class, ObservationRegistry.class})
@ConditionalOnBean({IreeRuntime.class, ObservationRegistry.class})
public final class IreeObservationAutoConfiguration {

    /** For Spring. */
    IreeObservationAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    ObservationInvocationInterceptor ireeObservationInvocationInterceptor(
            IreeRuntime runtime,
            ObservationRegistry registry,
            ObjectProvider<InvocationObservationConvention> convention) {
        return new ObservationInvocationInterceptor(runtime, registry, convention.getIfUnique());
    }

    @Bean
    @ConditionalOnMissingBean
    ObservedCallNumbers ireeObservedCallNumbers(ObservationRegistry registry) {
        return new ObservedCallNumbers(registry);
    }
}
