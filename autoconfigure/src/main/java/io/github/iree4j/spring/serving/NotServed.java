package io.github.iree4j.spring.serving;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.method.HandlerMethod;

/**
 * Requests answered in the protocol's form although no handler serves the request, alike on both web stacks: requests
 * with any method that no other handler names, unknown methods included. Spring answers OPTIONS.
 */
final class NotServed {

    /** The paths of the protocol and of others, as a pattern of a mapping. */
    static final String BELOW = "/v2/**";

    /** The order of a mapping behind the mappings of handlers, and before the mappings of files. */
    static final int BEFORE_FILES = Ordered.LOWEST_PRECEDENCE - 2;

    private NotServed() {}

    /** Returns the method of a controller for unknown paths, as the handler of a mapping. */
    static HandlerMethod handler(Object controller, Class<?> request) {
        try {
            return new HandlerMethod(controller, controller.getClass().getDeclaredMethod("unknown", request));
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Other methods for paths with GET in the protocol. */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @RequestMapping(
            path = {
                "",
                "/",
                "/health/live",
                "/health/ready",
                "/models/{model}",
                "/models/{model}/versions/{version}",
                "/models/{model}/ready",
                "/models/{model}/versions/{version}/ready",
                "/models/{model}/config",
                "/models/{model}/versions/{version}/config"
            })
    @interface Get {}

    /** Other methods for paths with POST in the protocol. */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @RequestMapping(
            path = {
                "/models/{model}/infer",
                "/models/{model}/versions/{version}/infer",
                "/models/{model}/generate",
                "/models/{model}/versions/{version}/generate",
                "/models/{model}/generate_stream",
                "/models/{model}/versions/{version}/generate_stream"
            })
    @interface Post {}

    /** Other methods for paths with POST in the repository extension. */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @RequestMapping(path = {"/index", "/models/{model}/load", "/models/{model}/unload"})
    @interface Repository {}

    /** The remaining paths of the protocol and its extensions. */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @RequestMapping(
            path = {
                "/health/**",
                "/models/**",
                "/repository/**",
                "/systemsharedmemory/**",
                "/cudasharedmemory/**",
                "/trace/**",
                "/logging/**"
            })
    @interface Other {}
}
