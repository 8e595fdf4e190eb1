package io.github.iree4j.spring.autoconfigure.serving;

import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpProperties;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.serving.OpenInferenceGrpcService;
import io.github.iree4j.spring.serving.ServedModels;
import io.grpc.BindableService;
import io.grpc.DecompressorRegistry;
import io.grpc.ServerBuilder;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.grpc.server.ServerBuilderCustomizer;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.ResponseStatusException;

/**
 * {@link AutoConfiguration Auto-configuration} for serving programs over the Open Inference Protocol with gRPC, on the
 * server of Spring Boot.
 */
@AutoConfiguration(
        after = {IreeServingAutoConfiguration.class, IreeHttpAutoConfiguration.class},
        beforeName = "org.springframework.boot.grpc.server.autoconfigure.GrpcServerAutoConfiguration")
@ConditionalOnClass({BindableService.class, ServerBuilderCustomizer.class, ResponseStatusException.class})
@ConditionalOnBean({InvocationService.class, ServedModels.class, BodyLimits.class})
@ConditionalOnBooleanProperty("iree.serving.enabled")
@ConditionalOnBooleanProperty(name = "iree.serving.grpc.enabled", matchIfMissing = true)
@ImportRuntimeHints(GrpcRuntimeHints.class)
public final class IreeGrpcServingAutoConfiguration {

    private static final String MESSAGE_SIZE = "spring.grpc.server.inbound.message.max-size";
    private static final int MANY_REQUESTS = 256;
    private static final boolean EPOLL = ClassUtils.isPresent(
            "io.netty.channel.epoll.Epoll", IreeGrpcServingAutoConfiguration.class.getClassLoader());

    /** For Spring. */
    IreeGrpcServingAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean(name = "ireeGrpcAuthentication")
    GrpcAuthentication ireeGrpcAuthentication(ListableBeanFactory beans, IreeServingProperties properties) {
        return new GrpcAuthentication(beans, properties);
    }

    @Bean
    @ConditionalOnMissingBean
    OpenInferenceGrpcService ireeOpenInferenceGrpcService(
            Programs programs,
            ServedModels models,
            InvocationService invocations,
            IreeServingProperties properties,
            IreeHttpProperties http,
            GrpcAuthentication authentication,
            BodyLimits limits) {
        return new OpenInferenceGrpcService(
                programs,
                models,
                invocations,
                properties.options(http, MANY_REQUESTS),
                authentication::isThere,
                limits,
                properties.grpc().maxCalls());
    }

    @Bean
    @ConditionalOnMissingBean(name = "ireeGrpcStop")
    GrpcStop ireeGrpcStop(OpenInferenceGrpcService service) {
        return new GrpcStop(service);
    }

    /** Allows messages as large as over HTTP, unless Boot's property sets another limit; the encodings are Boot's. */
    @Bean
    @ConditionalOnMissingBean(name = "ireeGrpcServerCustomizer")
    @Order(0)
    <T extends ServerBuilder<T>> ServerBuilderCustomizer<T> ireeGrpcServerCustomizer(
            OpenInferenceGrpcService service,
            IreeHttpProperties properties,
            Environment environment,
            ObjectProvider<DecompressorRegistry> encodings) {
        int maximum = (int) properties.maxRequestSize().toBytes();
        boolean configured = environment.containsProperty(MESSAGE_SIZE);
        return builder -> {
            service.tracers().forEach(builder::addStreamTracerFactory);
            builder.decompressorRegistry(
                    CheckedDecompressor.checked(encodings.getIfAvailable(DecompressorRegistry::getDefaultInstance)));
            if (!configured) {
                builder.maxInboundMessageSize(maximum);
            }
        };
    }

    /** The limits of connections, for the transport preferred by Spring Boot. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder.class)
    static class ShadedNettyConfiguration {

        @Bean
        @ConditionalOnMissingBean(name = "ireeShadedNettyCustomizer")
        @Order(0)
        ServerBuilderCustomizer<io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder> ireeShadedNettyCustomizer(
                IreeServingProperties properties, Environment environment) {
            return builder -> {
                GrpcConnectionLimits limits = GrpcConnectionLimits.of(properties);
                limits.keepAlive(builder, environment);
                builder.maxConcurrentCallsPerConnection(limits.calls())
                        .maxRstFramesPerWindow(GrpcConnectionLimits.RESETS, GrpcConnectionLimits.RESETS_SECONDS);
                if (io.grpc.netty.shaded.io.netty.channel.epoll.Epoll.isAvailable()) {
                    builder.withChildOption(
                            io.grpc.netty.shaded.io.netty.channel.epoll.EpollChannelOption.TCP_USER_TIMEOUT,
                            GrpcConnectionLimits.UNREAD_MILLIS);
                }
            };
        }
    }

    /** The limits of connections, for the transport sharing Netty with the application. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(io.grpc.netty.NettyServerBuilder.class)
    static class NettyConfiguration {

        @Bean
        @ConditionalOnMissingBean(name = "ireeNettyCustomizer")
        @Order(0)
        ServerBuilderCustomizer<io.grpc.netty.NettyServerBuilder> ireeNettyCustomizer(
                IreeServingProperties properties, Environment environment) {
            return builder -> {
                GrpcConnectionLimits limits = GrpcConnectionLimits.of(properties);
                limits.keepAlive(builder, environment);
                builder.maxConcurrentCallsPerConnection(limits.calls())
                        .maxRstFramesPerWindow(GrpcConnectionLimits.RESETS, GrpcConnectionLimits.RESETS_SECONDS);
                if (EPOLL && io.netty.channel.epoll.Epoll.isAvailable()) {
                    builder.withChildOption(
                            io.netty.channel.epoll.EpollChannelOption.TCP_USER_TIMEOUT,
                            GrpcConnectionLimits.UNREAD_MILLIS);
                }
            };
        }
    }
}
