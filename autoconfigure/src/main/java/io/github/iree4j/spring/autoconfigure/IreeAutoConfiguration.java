package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.IreeException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.io.ApplicationResourceLoader;
import org.springframework.context.annotation.Bean;
import org.springframework.core.io.ResourceLoader;

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
        customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
        try {
            return builder.build();
        } catch (IreeException e) {
            throw new RuntimeOpenException(properties.devices(), e);
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
        return new ProgramSource(name, module.location(), device, module.parameters());
    }

    @Bean
    @ConditionalOnMissingBean
    InvocationService ireeInvocationService(Programs programs) {
        return new InvocationService(programs);
    }
}
