package io.github.iree4j.spring.autoconfigure.http;

import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Matches when calls end with the connections of their clients, by {@code iree.http.watch-clients}, or else where a protocol is served. */
final class OnWatchedClients implements Condition {

    /** For Spring. */
    OnWatchedClients() {}

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        Environment environment = context.getEnvironment();
        return environment.getProperty("iree.http.watch-clients", Boolean.class, OnServing.isServing(environment));
    }
}
