package io.github.iree4j.spring.autoconfigure.resilience;

import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeProperties;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;

/**
 * Reloads timeouts when Spring Cloud reports changed properties. Devices, pools and workers are fixed when the runtime
 * is opened, and programs are replaced by loading: a changed property triggers neither.
 */
final class TimeoutReload implements ApplicationListener<ApplicationEvent> {

    /** By name, to avoid a dependency on Spring Cloud. */
    private static final String CHANGE = "org.springframework.cloud.context.environment.EnvironmentChangeEvent";

    private static final Logger log = LoggerFactory.getLogger(TimeoutReload.class);

    private final ObjectProvider<Programs> programs;
    private final Environment environment;

    TimeoutReload(ObjectProvider<Programs> programs, Environment environment) {
        this.programs = programs;
        this.environment = environment;
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        if (!event.getClass().getName().equals(CHANGE)) {
            return;
        }
        try {
            IreeProperties changed = Binder.get(environment).bindOrCreate("iree", IreeProperties.class);
            changed.checkRanges();
            Duration general = changed.invocation().timeout();
            programs.ifAvailable(all -> all.setCallTimeouts(general, changed.callTimeouts()));
        } catch (BindException | InvalidConfigurationPropertyValueException e) {
            log.warn("changed properties 'iree.*' cannot be read; timeouts remain unchanged", e);
        }
    }
}
