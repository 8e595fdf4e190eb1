package io.github.iree4j.spring.autoconfigure.serving;

import io.github.iree4j.spring.autoconfigure.serving.IreeServingProperties.Grpc.Authentication;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.ApplicationListener;
import org.springframework.grpc.server.GlobalServerInterceptor;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.grpc.server.lifecycle.GrpcServerStartedEvent;
import org.springframework.grpc.server.security.AuthenticationProcessInterceptor;

/**
 * Determines whether clients of the gRPC server are authenticated. Spring Security in front of HTTP does not
 * authenticate gRPC clients: Spring gRPC has separate security, in the form of an interceptor declared by the
 * application. Other interceptors may authenticate as well, without any indication: unless the operator confirms
 * authentication, the answer is no.
 */
final class GrpcAuthentication implements SmartInitializingSingleton, ApplicationListener<GrpcServerStartedEvent> {

    private static final Logger log = LoggerFactory.getLogger(GrpcAuthentication.class);

    private static final String PROPERTY = "iree.serving.grpc.authentication";
    private static final String MISSING =
            "there is no bean of type 'AuthenticationProcessInterceptor' with '@GlobalServerInterceptor'";

    /** Names given by Spring Security to the filter of all chains, of servlets and of WebFlux. */
    private static final String[] HTTP_SECURITY = {
        "springSecurityFilterChain",
        "org.springframework.security.config.annotation.web.reactive.WebFluxSecurityConfiguration.WebFilterChainFilter"
    };

    /** The name of Spring Boot's bean serving gRPC as a servlet. */
    private static final String SERVLET = "grpcServletRegistration";

    private final ListableBeanFactory beans;
    private final Authentication expected;
    private final boolean hasRepository;

    GrpcAuthentication(ListableBeanFactory beans, IreeServingProperties properties) {
        this.beans = beans;
        this.expected = properties.grpc().authentication();
        this.hasRepository = properties.repository();
    }

    /** Returns whether clients are authenticated; false without an indication. */
    boolean isThere() {
        if (expected == Authentication.ELSEWHERE) {
            return true;
        }
        for (String name : beans.getBeanNamesForType(AuthenticationProcessInterceptor.class)) {
            if (beans.findAnnotationOnBean(name, GlobalServerInterceptor.class) != null) {
                return true;
            }
        }
        return false;
    }

    private boolean isHttpSecured() {
        for (String name : HTTP_SECURITY) {
            if (beans.containsBean(name)) {
                return true;
            }
        }
        return false;
    }

    /** Refuses the start before a server exists. */
    @Override
    public void afterSingletonsInstantiated() {
        if (expected == Authentication.REQUIRED
                && (beans.getBeanNamesForType(GrpcServerLifecycle.class).length > 0 || beans.containsBean(SERVLET))
                && !isThere()) {
            throw new InvalidConfigurationPropertyValueException(
                    PROPERTY,
                    "required",
                    "Nothing authenticates clients of gRPC: %s. Declare a bean, or set %s=elsewhere if something else authenticates clients."
                            .formatted(MISSING, PROPERTY));
        }
    }

    @Override
    public void onApplicationEvent(GrpcServerStartedEvent started) {
        if (started.getPort() < 0 || isThere()) { // without a port, the server serves only this machine
            return;
        }
        if (isHttpSecured()) {
            log.warn(
                    "Spring Security is in front of HTTP only: whoever reaches port {} calls all models over gRPC, since {}. Declare a bean; or set {}=elsewhere if something else authenticates clients, or iree.serving.grpc.enabled=false",
                    started.getPort(),
                    MISSING,
                    PROPERTY);
        } else if (hasRepository) {
            log.warn(
                    "iree.serving.repository=true has no effect over gRPC, on port {}: models are listed, loaded and unloaded only by authenticated clients, and {}. Declare a bean; or set {}=elsewhere if something else authenticates clients",
                    started.getPort(),
                    MISSING,
                    PROPERTY);
        }
    }
}
