package io.github.iree4j.spring.autoconfigure.console;

import org.springframework.boot.actuate.autoconfigure.web.server.ManagementPortType;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

/** Matches when Actuator has no separate port. */
final class SamePort implements Condition {

    /** For Spring. */
    SamePort() {}

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        return !ClassUtils.isPresent(
                        "org.springframework.boot.actuate.autoconfigure.web.server.ManagementPortType",
                        context.getClassLoader())
                || !Ports.differ(context.getEnvironment());
    }

    /** Loaded only with Actuator. */
    private static final class Ports {
        static boolean differ(Environment environment) {
            return ManagementPortType.get(environment) == ManagementPortType.DIFFERENT;
        }
    }
}
