package io.github.iree4j.spring.autoconfigure.metrics;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpAutoConfiguration;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.metrics.BatchMetrics;
import io.github.iree4j.spring.metrics.IreeMetrics;
import io.github.iree4j.spring.metrics.ProblemMetrics;
import io.github.iree4j.spring.metrics.ProgramLoadMetrics;
import io.github.iree4j.spring.metrics.ProgramMetrics;
import io.github.iree4j.spring.metrics.RequestMetrics;
import io.github.iree4j.spring.metrics.VariantMetrics;
import io.github.iree4j.spring.problems.Watchdog;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.server.ResponseStatusException;

/** {@link AutoConfiguration Auto-configuration} for {@link IreeMetrics} and the other meters. */
@AutoConfiguration(
        after = {IreeAutoConfiguration.class, IreeHttpAutoConfiguration.class},
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass({IreeRuntime.class, MeterRegistry.class})
@ConditionalOnBean({IreeRuntime.class, Programs.class, MeterRegistry.class})
public final class IreeMetricsAutoConfiguration {

    /** For Spring. */
    IreeMetricsAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    IreeMetrics ireeMetrics(IreeRuntime runtime, Programs programs) {
        return new IreeMetrics(runtime, programs);
    }

    @Bean
    @ConditionalOnMissingBean
    ProgramMetrics ireeProgramMetrics(IreeRuntime runtime, Programs programs) {
        return new ProgramMetrics(runtime, programs);
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(Watchdog.class)
    ProblemMetrics ireeProblemMetrics(Watchdog watchdog) {
        return new ProblemMetrics(watchdog);
    }

    /** Configuration for HTTP or gRPC. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ResponseStatusException.class)
    @ConditionalOnBean(BodyLimits.class)
    static class RequestConfiguration {

        @Bean
        @ConditionalOnMissingBean
        RequestMetrics ireeRequestMetrics(BodyLimits limits) {
            return new RequestMetrics(limits);
        }
    }

    @Bean
    @ConditionalOnMissingBean
    static ProgramLoadMetrics ireeProgramLoadMetrics(ObjectProvider<MeterRegistry> registry) {
        return new ProgramLoadMetrics(registry::getIfUnique);
    }

    @Bean
    @ConditionalOnMissingBean
    static BatchMetrics ireeBatchMetrics(ObjectProvider<MeterRegistry> registry) {
        return new BatchMetrics(registry::getIfUnique);
    }

    @Bean
    @ConditionalOnMissingBean
    static VariantMetrics ireeVariantMetrics(ObjectProvider<MeterRegistry> registry) {
        return new VariantMetrics(registry::getIfUnique);
    }
}
