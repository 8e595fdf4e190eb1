package io.github.iree4j.spring.autoconfigure.serving;

import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpProperties;
import io.github.iree4j.spring.autoconfigure.http.ServerThreads;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.serving.BusyRefusal;
import io.github.iree4j.spring.serving.FormRefusal;
import io.github.iree4j.spring.serving.ModelRepositoryController;
import io.github.iree4j.spring.serving.OpenInferenceController;
import io.github.iree4j.spring.serving.ProtocolErrors;
import io.github.iree4j.spring.serving.ReactiveModelRepositoryController;
import io.github.iree4j.spring.serving.ReactiveOpenInferenceController;
import io.github.iree4j.spring.serving.ServedModels;
import io.github.iree4j.spring.serving.UndecodableRequests;
import jakarta.servlet.DispatcherType;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.availability.ApplicationAvailability;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.servlet.DispatcherServlet;
import reactor.core.publisher.Mono;
import tools.jackson.databind.util.TokenBuffer;

/** {@link AutoConfiguration Auto-configuration} for serving programs over the Open Inference Protocol when enabled. */
@AutoConfiguration(after = {IreeAutoConfiguration.class, IreeHttpAutoConfiguration.class})
@ConditionalOnBean(InvocationService.class)
@ConditionalOnBooleanProperty("iree.serving.enabled")
@EnableConfigurationProperties(IreeServingProperties.class)
public final class IreeServingAutoConfiguration {

    private static final int MANY_REQUESTS = 256;
    private static final int SHARE = 2;

    /** For Spring. */
    IreeServingAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    ServedModels ireeServedModels(
            Programs programs, IreeServingProperties properties, ObjectProvider<ApplicationAvailability> availability) {
        return new ServedModels(
                programs, properties.functions(), properties.strings(), properties.valueRanges(), () -> {
                    ApplicationAvailability known = availability.getIfAvailable();
                    return known == null || known.getReadinessState() == ReadinessState.ACCEPTING_TRAFFIC;
                });
    }

    @Bean
    @ConditionalOnMissingBean(name = "ireeServedNamesCheck")
    ServedNamesCheck ireeServedNamesCheck(Programs programs, IreeServingProperties properties) {
        return new ServedNamesCheck(properties, programs);
    }

    @Bean
    @ConditionalOnBean(BodyLimits.class)
    @ConditionalOnMissingBean(name = "ireeRequestSizeReport")
    RequestSizeReport ireeRequestSizeReport(IreeHttpProperties properties, BodyLimits limits, Environment environment) {
        return new RequestSizeReport(properties, limits, environment);
    }

    /** Configuration for Spring MVC. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({DispatcherServlet.class, TokenBuffer.class})
    @ConditionalOnWebApplication(type = Type.SERVLET)
    static class ServletConfiguration {

        @Bean
        @ConditionalOnMissingBean
        OpenInferenceController ireeOpenInferenceController(
                ServedModels models,
                InvocationService invocations,
                IreeServingProperties properties,
                IreeHttpProperties http,
                BodyLimits limits,
                Environment environment) {
            int requests = ServerThreads.share(environment, SHARE, MANY_REQUESTS);
            return new OpenInferenceController(models, invocations, properties.options(http, requests), limits);
        }

        @Bean
        @ConditionalOnMissingBean(name = "ireeUnservedPaths")
        org.springframework.web.servlet.HandlerMapping ireeUnservedPaths(OpenInferenceController controller) {
            return controller.unservedPaths();
        }

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnBooleanProperty("iree.serving.repository")
        ModelRepositoryController ireeModelRepositoryController(Programs programs, BodyLimits limits) {
            return new ModelRepositoryController(programs, limits);
        }

        @Bean
        @ConditionalOnMissingBean(name = "ireeFormRefusal")
        FilterRegistrationBean<FormRefusal> ireeFormRefusal(Environment environment) {
            FilterRegistrationBean<FormRefusal> registration = new FilterRegistrationBean<>(new FormRefusal());
            registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
            registration.setUrlPatterns(paths(environment));
            return registration;
        }

        /** Behind the filter observing requests, so that the filter's meters count refusals too. */
        @Bean
        @ConditionalOnMissingBean(name = "ireeBusyRefusal")
        FilterRegistrationBean<BusyRefusal> ireeBusyRefusal(
                OpenInferenceController controller, Environment environment) {
            FilterRegistrationBean<BusyRefusal> registration =
                    new FilterRegistrationBean<>(new BusyRefusal(controller));
            registration.setOrder(Ordered.HIGHEST_PRECEDENCE + 2);
            registration.setUrlPatterns(List.of(prefix(environment) + BusyRefusal.PATH));
            return registration;
        }

        @Bean
        @ConditionalOnMissingBean(name = "ireeProtocolErrors")
        FilterRegistrationBean<ProtocolErrors> ireeProtocolErrors(Environment environment) {
            FilterRegistrationBean<ProtocolErrors> registration =
                    new FilterRegistrationBean<>(new ProtocolErrors(paths(environment)));
            registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
            registration.setDispatcherTypes(DispatcherType.ERROR);
            return registration;
        }

        /** Returns the paths of the protocol, below the application's path of controllers. */
        private static List<String> paths(Environment environment) {
            return FormRefusal.PATHS.stream().map(prefix(environment)::concat).toList();
        }

        private static String prefix(Environment environment) {
            return StringUtils.trimTrailingCharacter(environment.getProperty("spring.mvc.servlet.path", ""), '/');
        }
    }

    /** Configuration for Spring WebFlux. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({DispatcherHandler.class, Mono.class, TokenBuffer.class})
    @ConditionalOnWebApplication(type = Type.REACTIVE)
    static class ReactiveConfiguration {

        @Bean
        @ConditionalOnMissingBean
        ReactiveOpenInferenceController ireeReactiveOpenInferenceController(
                ServedModels models,
                InvocationService invocations,
                IreeServingProperties properties,
                IreeHttpProperties http,
                BodyLimits limits) {
            return new ReactiveOpenInferenceController(
                    models, invocations, properties.options(http, MANY_REQUESTS), limits);
        }

        @Bean
        @ConditionalOnMissingBean(name = "ireeUnservedPaths")
        org.springframework.web.reactive.HandlerMapping ireeUnservedPaths(ReactiveOpenInferenceController controller) {
            return controller.unservedPaths();
        }

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnBooleanProperty("iree.serving.repository")
        ReactiveModelRepositoryController ireeReactiveModelRepositoryController(Programs programs, BodyLimits limits) {
            return new ReactiveModelRepositoryController(programs, limits);
        }
    }

    /** Configuration for Spring WebFlux on Netty. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({NettyReactiveWebServerFactory.class, DispatcherHandler.class})
    @ConditionalOnWebApplication(type = Type.REACTIVE)
    static class NettyConfiguration {

        @Bean
        @ConditionalOnMissingBean(name = "ireeUndecodableRequests")
        WebServerFactoryCustomizer<NettyReactiveWebServerFactory> ireeUndecodableRequests(Environment environment) {
            String base =
                    StringUtils.trimTrailingCharacter(environment.getProperty("spring.webflux.base-path", ""), '/');
            return factory -> factory.addServerCustomizers(server ->
                    server.doOnChannelInit((_, channel, _) -> UndecodableRequests.addTo(channel.pipeline(), base)));
        }
    }
}
