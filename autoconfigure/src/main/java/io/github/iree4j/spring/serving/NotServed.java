package io.github.iree4j.spring.serving;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;

/** Requests answered in the protocol's form although no handler serves the request, alike on both web stacks. */
final class NotServed {
    private NotServed() {}

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
            },
            method = {RequestMethod.POST, RequestMethod.PUT, RequestMethod.PATCH, RequestMethod.DELETE})
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
            },
            method = {RequestMethod.GET, RequestMethod.PUT, RequestMethod.PATCH, RequestMethod.DELETE})
    @interface Post {}

    /** Other methods for paths with POST in the repository extension. */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @RequestMapping(
            path = {"/index", "/models/{model}/load", "/models/{model}/unload"},
            method = {RequestMethod.GET, RequestMethod.PUT, RequestMethod.PATCH, RequestMethod.DELETE})
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
            },
            method = {
                RequestMethod.GET,
                RequestMethod.POST,
                RequestMethod.PUT,
                RequestMethod.PATCH,
                RequestMethod.DELETE
            })
    @interface Other {}
}
