package io.github.iree4j.spring.autoconfigure;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.context.annotation.Import;

/**
 * {@link ManagementContextConfiguration @ManagementContextConfiguration} for stopping when Actuator has a separate port:
 * all servers share the time.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
@Import({StoppingServers.ManagementConfiguration.class, StoppingServers.ManagementTomcatConfiguration.class})
final class StoppingManagementConfiguration {

    /** For Spring. */
    StoppingManagementConfiguration() {}
}
