package io.github.iree4j.spring.autoconfigure.console;

import io.github.iree4j.spring.console.ReactiveConsole;
import io.github.iree4j.spring.console.ServletConsole;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnResource;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportRuntimeHints;

/**
 * {@link AutoConfiguration Auto-configuration} for the console when enabled. With a separate management port, the
 * console is served there, beside the console's data; see {@link IreeConsoleManagementConfiguration}.
 *
 * @see ServletConsole
 * @see ReactiveConsole
 */
@AutoConfiguration
@ConditionalOnWebApplication
@ConditionalOnBooleanProperty("iree.console.enabled")
@ConditionalOnResource(resources = "classpath:META-INF/iree-console/index.html")
@EnableConfigurationProperties(IreeConsoleProperties.class)
@ImportRuntimeHints(IreeConsoleRuntimeHints.class)
public final class IreeConsoleAutoConfiguration {

    /** For Spring. */
    IreeConsoleAutoConfiguration() {}

    /** Beside the application's own pages. */
    @Configuration(proxyBeanMethods = false)
    @Conditional(SamePort.class)
    @Import({ConsoleConfigurations.Servlet.class, ConsoleConfigurations.Reactive.class})
    static class OnPortOfApplication {}
}
