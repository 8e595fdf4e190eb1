package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.spring.cluster.ClusterMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;

/** {@link AutoConfiguration Auto-configuration} for {@link ClusterMetrics}. */
@AutoConfiguration(
        after = IreeClusterAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass({ClusterNode.class, MeterRegistry.class})
@ConditionalOnBean({ClusterNode.class, LeaseKeeper.class, MeterRegistry.class})
public final class IreeClusterMetricsAutoConfiguration {

    /** For Spring. */
    IreeClusterMetricsAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    ClusterMetrics ireeClusterMetrics(
            ClusterNode node,
            LeaseKeeper lease,
            IreeClusterProperties properties,
            SimpleAsyncTaskScheduler ireeClusterScheduler) {
        ClusterMetrics metrics = new ClusterMetrics(node, lease);
        ireeClusterScheduler.scheduleWithFixedDelay(
                metrics::refresh, properties.failureDetection().interval());
        return metrics;
    }
}
