package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.spring.cluster.ClusterHealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** {@link AutoConfiguration Auto-configuration} for {@link ClusterHealthIndicator}. */
@AutoConfiguration(after = IreeClusterAutoConfiguration.class)
@ConditionalOnClass({ClusterNode.class, HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean({ClusterNode.class, LeaseKeeper.class})
public final class IreeClusterHealthAutoConfiguration {

    /** For Spring. */
    IreeClusterHealthAutoConfiguration() {}

    // Not on the class: the condition would be loaded even without health support.
    @Bean
    @ConditionalOnEnabledHealthIndicator("ireeCluster")
    @ConditionalOnMissingBean(name = "ireeClusterHealthIndicator")
    ClusterHealthIndicator ireeClusterHealthIndicator(ClusterNode node, LeaseKeeper lease) {
        return new ClusterHealthIndicator(node, lease);
    }
}
