package io.github.iree4j.spring.autoconfigure.serving;

import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpAutoConfiguration;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.serving.OpenInferenceGrpcService;
import io.github.iree4j.spring.serving.ServedModels;
import io.grpc.BindableService;
import io.grpc.ServerBuilder;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.grpc.server.ServerBuilderCustomizer;
import org.springframework.web.server.ResponseStatusException;

/**
 * {@link AutoConfiguration Auto-configuration} for serving programs over the Open Inference Protocol with gRPC, by the
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

    /** For Spring. */
    IreeGrpcServingAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    OpenInferenceGrpcService ireeOpenInferenceGrpcService(
            Programs programs,
            ServedModels models,
            InvocationService invocations,
            IreeServingProperties properties,
            BodyLimits limits) {
        return new OpenInferenceGrpcService(
                programs,
                models,
                invocations,
                properties.options(MANY_REQUESTS),
                limits,
                properties.grpc().maxStreams());
    }

    /** Messages may be as large as over HTTP, unless Boot's property says otherwise. */
    @Bean
    @ConditionalOnMissingBean(name = "ireeGrpcServerCustomizer")
    @Order(0)
    <T extends ServerBuilder<T>> ServerBuilderCustomizer<T> ireeGrpcServerCustomizer(
            OpenInferenceGrpcService service, IreeServingProperties properties, Environment environment) {
        int maximum =
                (int) Math.min(Integer.MAX_VALUE, properties.maxRequestSize().toBytes());
        boolean configured = environment.containsProperty(MESSAGE_SIZE);
        return builder -> {
            builder.addStreamTracerFactory(service.tracers());
            if (!configured) {
                builder.maxInboundMessageSize(maximum);
            }
        };
    }
}
