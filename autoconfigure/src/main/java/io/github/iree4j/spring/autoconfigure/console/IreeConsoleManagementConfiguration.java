package io.github.iree4j.spring.autoconfigure.console;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnResource;
import org.springframework.context.annotation.Import;

/**
 * {@link ManagementContextConfiguration @ManagementContextConfiguration} for the console when Actuator has a separate
 * port: protection of the port protects the console too.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
@ConditionalOnBooleanProperty("iree.console.enabled")
@ConditionalOnResource(resources = "classpath:META-INF/iree-console/index.html")
@Import({ConsoleConfigurations.Servlet.class, ConsoleConfigurations.Reactive.class})
final class IreeConsoleManagementConfiguration {

    /** For Spring. */
    IreeConsoleManagementConfiguration() {}
}
