package io.github.iree4j.spring.autoconfigure.http;

import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Matches when failures are problem details, by {@code iree.http.problem-details}, or else by Spring Boot's switch for the web stack. */
final class OnProblemDetails implements Condition {

    /** For Spring. */
    OnProblemDetails() {}

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        Environment environment = context.getEnvironment();
        Boolean own = environment.getProperty("iree.http.problem-details", Boolean.class);
        return own != null
                ? own
                : isOn(environment, "spring.mvc.problemdetails.enabled")
                        || isOn(environment, "spring.webflux.problemdetails.enabled");
    }

    private static boolean isOn(Environment environment, String property) {
        return environment.getProperty(property, Boolean.class, false);
    }
}
