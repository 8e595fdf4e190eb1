package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.hal.remote.RemoteTracer;
import io.github.iree4j.spring.cluster.observation.ClusterTracer;
import io.github.iree4j.spring.cluster.observation.CommandObservationConvention;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** {@link AutoConfiguration Auto-configuration} for {@link ClusterTracer}. */
@AutoConfiguration(before = IreeClusterAutoConfiguration.class)
@ConditionalOnClass({ClusterNode.class, Tracer.class, ObservationRegistry.class})
@ConditionalOnBooleanProperty("iree.cluster.enabled")
public final class IreeClusterObservationAutoConfiguration {

    /** For Spring. */
    IreeClusterObservationAutoConfiguration() {}

    /** The application's own tracer and registry, defined anywhere. */
    @Bean
    @ConditionalOnMissingBean
    RemoteTracer ireeClusterTracer(
            ObjectProvider<Tracer> tracers,
            ObjectProvider<ObservationRegistry> registries,
            ObjectProvider<CommandObservationConvention> convention) {
        Tracer tracer = tracers.getIfUnique();
        ObservationRegistry registry = registries.getIfUnique();
        return tracer == null || registry == null
                ? RemoteTracer.NONE
                : new ClusterTracer(tracer, registry, convention.getIfUnique());
    }
}
