package io.github.iree4j.spring.autoconfigure.http;

import io.github.iree4j.Tensor;
import io.github.iree4j.spring.http.BodyFailures;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.DisconnectInterceptor;
import io.github.iree4j.spring.http.IreeProblemAdvice;
import io.github.iree4j.spring.http.TensorDecoder;
import io.github.iree4j.spring.http.TensorHttpMessageConverter;
import io.github.iree4j.spring.http.TensorHttpMessageWriter;
import io.github.iree4j.spring.http.TensorJsonDecoder;
import io.github.iree4j.spring.http.TensorJsonHttpMessageConverter;
import io.github.iree4j.spring.http.TensorJsonHttpMessageWriter;
import io.github.iree4j.spring.http.TensorJsonModule;
import io.github.iree4j.spring.http.UnreadResponses;
import io.grpc.BindableService;
import org.apache.catalina.valves.ValveBase;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnNotWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.DispatcherServlet;
import tools.jackson.databind.JacksonModule;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@link AutoConfiguration Auto-configuration} for tensors as HTTP bodies and failures as problem details, with the
 * available web stack.
 */
@AutoConfiguration(afterName = "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration")
@ConditionalOnClass(Tensor.class)
@ConditionalOnBooleanProperty(name = "iree.enabled", matchIfMissing = true)
@EnableConfigurationProperties(IreeHttpProperties.class)
public final class IreeHttpAutoConfiguration {

    private static final int MANY_BODIES = 1024;

    /** For Spring. */
    IreeHttpAutoConfiguration() {}

    /** Configuration for Tomcat. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({ConfigurableTomcatWebServerFactory.class, ValveBase.class})
    @ConditionalOnWebApplication(type = Type.SERVLET)
    static class TomcatConfiguration {

        /** Changes the answers of every path of the application, so only with a protocol, which strangers may reach. */
        @Bean
        @Conditional(OnServing.class)
        @ConditionalOnMissingBean(name = "ireeUnreadBodies")
        WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> ireeUnreadBodies() {
            return factory -> factory.addEngineValves(new UnreadBodyValve());
        }

        /** Configuration for Spring MVC. Every request passes the valve, so only where calls are to end with their clients. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnClass(DispatcherServlet.class)
        @Conditional(OnWatchedClients.class)
        static class DisconnectConfiguration {

            @Bean
            @ConditionalOnMissingBean(name = "ireeClientConnections")
            WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> ireeClientConnections() {
                return factory -> factory.addEngineValves(new ClientConnectionValve());
            }

            @Bean
            @ConditionalOnMissingBean
            DisconnectInterceptor ireeDisconnectInterceptor() {
                return new DisconnectInterceptor();
            }
        }
    }

    /** Configuration for gRPC only. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({BindableService.class, ResponseStatusException.class})
    @ConditionalOnNotWebApplication
    static class GrpcConfiguration {

        @Bean
        @ConditionalOnMissingBean
        BodyLimits ireeBodyLimits(IreeHttpProperties properties) {
            return properties.limits(MANY_BODIES);
        }
    }

    /** Configuration for Jackson. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({JsonMapper.class, JacksonModule.class})
    static class JsonConfiguration {

        @Bean
        @ConditionalOnMissingBean
        TensorJsonModule ireeTensorJsonModule(IreeHttpProperties properties) {
            return new TensorJsonModule(properties.maxRequestSize().toBytes());
        }

        /** Configuration for Spring MVC. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnClass(HttpMessageConverter.class)
        @ConditionalOnWebApplication(type = Type.SERVLET)
        @ConditionalOnSingleCandidate(JsonMapper.class)
        static class JsonConverterConfiguration {

            @Bean
            @ConditionalOnMissingBean
            TensorJsonHttpMessageConverter ireeTensorJsonHttpMessageConverter(
                    JsonMapper mapper, IreeHttpProperties properties, BodyLimits limits) {
                return new TensorJsonHttpMessageConverter(
                        mapper, properties.maxRequestSize().toBytes(), limits);
            }
        }

        /** Configuration for Spring WebFlux. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnClass(WebFluxConfigurer.class)
        @ConditionalOnWebApplication(type = Type.REACTIVE)
        @ConditionalOnSingleCandidate(JsonMapper.class)
        static class JsonWriterConfiguration {

            @Bean
            @ConditionalOnMissingBean(name = "ireeTensorJsonCodecs")
            WebFluxConfigurer ireeTensorJsonCodecs(
                    JsonMapper mapper, IreeHttpProperties properties, BodyLimits limits) {
                return new WebFluxConfigurer() {
                    @Override
                    public void configureHttpMessageCodecs(ServerCodecConfigurer configurer) {
                        configurer
                                .customCodecs()
                                .register(new TensorJsonDecoder(
                                        mapper,
                                        (int) properties.maxRequestSize().toBytes(),
                                        limits));
                        configurer.customCodecs().register(new TensorJsonHttpMessageWriter(mapper, limits));
                    }
                };
            }
        }
    }

    /** Configuration for Spring MVC, or the message converters shared with HTTP clients. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(HttpMessageConverter.class)
    @ConditionalOnWebApplication(type = Type.SERVLET)
    static class ConverterConfiguration {

        private static final int SHARE = 4;

        @Bean
        @ConditionalOnMissingBean
        BodyLimits ireeBodyLimits(IreeHttpProperties properties, Environment environment) {
            return properties.limits(ServerThreads.share(environment, SHARE, MANY_BODIES));
        }

        @Bean
        @ConditionalOnMissingBean
        TensorHttpMessageConverter ireeTensorHttpMessageConverter(IreeHttpProperties properties, BodyLimits limits) {
            return new TensorHttpMessageConverter(properties.maxRequestSize().toBytes(), limits);
        }
    }

    /** Configuration for Spring MVC. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DispatcherServlet.class)
    @ConditionalOnWebApplication(type = Type.SERVLET)
    @Conditional(OnProblemDetails.class)
    static class ProblemConfiguration {

        @Bean
        @ConditionalOnMissingBean
        IreeProblemAdvice ireeProblemAdvice() {
            return new IreeProblemAdvice();
        }
    }

    /** Configuration for Spring WebFlux, which detects controller advice in the same way. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DispatcherHandler.class)
    @ConditionalOnWebApplication(type = Type.REACTIVE)
    @Conditional(OnProblemDetails.class)
    static class ReactiveProblemConfiguration {

        @Bean
        @ConditionalOnMissingBean
        IreeProblemAdvice ireeProblemAdvice() {
            return new IreeProblemAdvice();
        }
    }

    /** Configuration for Spring WebFlux. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(WebFluxConfigurer.class)
    @ConditionalOnWebApplication(type = Type.REACTIVE)
    static class WebFluxConfiguration {

        @Bean
        @ConditionalOnMissingBean
        BodyLimits ireeBodyLimits(IreeHttpProperties properties) {
            return properties.limits(MANY_BODIES);
        }

        @Bean
        @ConditionalOnMissingBean
        BodyFailures ireeBodyFailures() {
            return new BodyFailures();
        }

        @Bean
        @ConditionalOnMissingBean(name = "ireeTensorCodecs")
        WebFluxConfigurer ireeTensorCodecs(IreeHttpProperties properties, BodyLimits limits) {
            return new WebFluxConfigurer() {
                @Override
                public void configureHttpMessageCodecs(ServerCodecConfigurer configurer) {
                    configurer
                            .customCodecs()
                            .register(new TensorDecoder(
                                    (int) properties.maxRequestSize().toBytes(), limits));
                    configurer.customCodecs().register(new TensorHttpMessageWriter(limits));
                }
            };
        }

        /** Configuration for Netty. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnClass(NettyReactiveWebServerFactory.class)
        static class NettyConfiguration {

            @Bean
            @ConditionalOnMissingBean(name = "ireeUnreadResponses")
            WebServerFactoryCustomizer<NettyReactiveWebServerFactory> ireeUnreadResponses(BodyLimits limits) {
                return factory -> factory.addServerCustomizers(server ->
                        server.doOnChannelInit((_, channel, _) -> UnreadResponses.addTo(channel.pipeline(), limits)));
            }
        }
    }
}
