package io.github.iree4j.spring.autoconfigure.http;

import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Matches where a protocol is served that strangers may reach: by {@code iree.serving.enabled} or {@code iree.openai.enabled}. */
final class OnServing implements Condition {

    /** For Spring. */
    OnServing() {}

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        return isServing(context.getEnvironment());
    }

    static boolean isServing(Environment environment) {
        return environment.getProperty("iree.serving.enabled", Boolean.class, false)
                || environment.getProperty("iree.openai.enabled", Boolean.class, false);
    }
}
