package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.cluster.ClusterEndpointPart;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** {@link AutoConfiguration Auto-configuration} for {@link ClusterEndpointPart}. */
@AutoConfiguration(
        after = {IreeClusterAutoConfiguration.class, IreeAutoConfiguration.class},
        beforeName = "io.github.iree4j.spring.autoconfigure.endpoint.IreeEndpointAutoConfiguration")
@ConditionalOnClass({ClusterNode.class, OperationResponseBody.class})
@ConditionalOnBean({ClusterNode.class, LeaseKeeper.class})
public final class IreeClusterEndpointAutoConfiguration {

    /** For Spring. */
    IreeClusterEndpointAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    ClusterEndpointPart ireeClusterEndpointPart(ClusterNode node, LeaseKeeper lease, SchedulingDomain domain) {
        return new ClusterEndpointPart(node, lease, domain.tracker());
    }
}
