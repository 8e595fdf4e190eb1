package io.github.iree4j.spring.autoconfigure.console;

import io.github.iree4j.spring.console.ConsoleEndpoints;
import io.github.iree4j.spring.console.ConsoleFiles;
import io.github.iree4j.spring.console.ConsoleRequests;
import io.github.iree4j.spring.console.ReactiveConsole;
import io.github.iree4j.spring.console.ServletConsole;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ClassUtils;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.servlet.DispatcherServlet;
import reactor.core.publisher.Mono;

/** The console on either web stack, in the context of the application or of the management port. */
final class ConsoleConfigurations {

    private static final String ACTUATOR = "org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints";

    /** The endpoints read by the page. */
    private static final List<String> ENDPOINTS = List.of("iree", "ireelab");

    private ConsoleConfigurations() {}

    private static ConsoleRequests requests(IreeConsoleProperties properties, ApplicationContext context) {
        ClassLoader loader = Objects.requireNonNull(context.getClassLoader(), "the context has no class loader");
        return new ConsoleRequests(ConsoleFiles.read(loader), properties.path(), () -> endpoints(context, loader));
    }

    private static ConsoleEndpoints endpoints(ApplicationContext context, @Nullable ClassLoader loader) {
        return ClassUtils.isPresent(ACTUATOR, loader)
                ? Exposed.of(context)
                : new ConsoleEndpoints(
                        Map.of(), "Spring Boot Actuator is not on the class path; add spring-boot-starter-actuator.");
    }

    /** Loaded only with Actuator. */
    private static final class Exposed {
        static ConsoleEndpoints of(ApplicationContext context) {
            PathMappedEndpoints exposed =
                    context.getBeanProvider(PathMappedEndpoints.class).getIfAvailable();
            Map<String, String> paths = new TreeMap<>();
            for (String id : ENDPOINTS) {
                String path = exposed == null ? null : exposed.getPath(EndpointId.of(id));
                if (path != null) {
                    paths.put(id, path);
                }
            }
            return new ConsoleEndpoints(paths, null);
        }
    }

    /** Configuration for Spring MVC. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DispatcherServlet.class)
    @ConditionalOnWebApplication(type = Type.SERVLET)
    static class Servlet {

        @Bean
        @ConditionalOnMissingBean
        ServletConsole ireeConsole(IreeConsoleProperties properties, ApplicationContext context) {
            return new ServletConsole(requests(properties, context));
        }
    }

    /** Configuration for Spring WebFlux. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({DispatcherHandler.class, Mono.class})
    @ConditionalOnWebApplication(type = Type.REACTIVE)
    static class Reactive {

        @Bean
        @ConditionalOnMissingBean
        ReactiveConsole ireeConsole(IreeConsoleProperties properties, ApplicationContext context) {
            return new ReactiveConsole(requests(properties, context));
        }
    }
}
