package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.InvocationInterceptor;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.task.ScanPolicy;
import io.github.iree4j.task.Topology;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.io.ApplicationResourceLoader;
import org.springframework.context.annotation.Bean;
import org.springframework.core.io.ResourceLoader;
import org.springframework.util.StringUtils;

/** {@link AutoConfiguration Auto-configuration} for the runtime, the programs of {@code iree.modules} and the service that calls them. */
@AutoConfiguration
@ConditionalOnClass(IreeRuntime.class)
@ConditionalOnBooleanProperty(name = "iree.enabled", matchIfMissing = true)
@EnableConfigurationProperties(IreeProperties.class)
public final class IreeAutoConfiguration {

    /** For Spring. */
    IreeAutoConfiguration() {}

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    IreeRuntime ireeRuntime(IreeProperties properties, ObjectProvider<IreeRuntimeCustomizer> customizers) {
        IreeRuntime.Builder builder = IreeRuntime.builder();
        properties.devices().forEach(builder::device);
        configure(builder, properties.task());
        customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
        try {
            return builder.build();
        } catch (IreeException e) {
            throw new RuntimeOpenException(properties.devices(), e);
        }
    }

    private static void configure(IreeRuntime.Builder builder, IreeProperties.Task task) {
        if (!task.topology().strip().equals("auto")) {
            try {
                builder.topology(Topology.of(task.topology()));
            } catch (IreeException e) {
                throw new InvalidConfigurationPropertyValueException(
                        "iree.task.topology", task.topology(), StringUtils.capitalize(e.getMessage()) + ".");
            }
        }
        builder.taskWorkers(task.workers())
                .taskAffinity(task.affinity())
                .scanPolicy(
                        switch (task.scanPolicy()) {
                            case ROUND_ROBIN -> ScanPolicy.roundRobin();
                            case PRIORITY -> ScanPolicy.byPriority();
                            case BUDGET -> ScanPolicy.byBudget();
                        });
        try {
            builder.tasks();
        } catch (IreeException e) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.task.workers", task.workers(), StringUtils.capitalize(e.getMessage()) + ".");
        }
    }

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    Programs ireePrograms(IreeRuntime runtime, IreeProperties properties, ResourceLoader resources) {
        Programs programs = new Programs(runtime, ApplicationResourceLoader.get(resources, true));
        try {
            properties.modules().forEach((name, module) -> programs.load(source(name, module, properties)));
        } catch (RuntimeException e) {
            programs.close();
            throw e;
        }
        return programs;
    }

    private static ProgramSource source(String name, IreeProperties.Module module, IreeProperties properties) {
        if (module.location() == null || module.location().isBlank()) {
            throw new ModuleLocationMissingException(name);
        }
        // With one device there is nothing to choose, and a runtime that the user defines may have named it otherwise.
        String device = properties.devices().size() == 1 ? null : properties.deviceOf(module);
        return new ProgramSource(name, module.location(), device, module.parameters(), module.overlappingCalls());
    }

    @Bean
    @ConditionalOnMissingBean
    InvocationService ireeInvocationService(Programs programs, ObjectProvider<InvocationInterceptor> interceptors) {
        return new InvocationService(programs, interceptors.orderedStream().toList());
    }
}
