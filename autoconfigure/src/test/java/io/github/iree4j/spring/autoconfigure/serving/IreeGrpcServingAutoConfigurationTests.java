package io.github.iree4j.spring.autoconfigure.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpAutoConfiguration;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.serving.OpenInferenceGrpcService;
import io.github.iree4j.spring.serving.ServedModels;
import io.grpc.BindableService;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.grpc.server.autoconfigure.GrpcServerAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.grpc.server.ServerBuilderCustomizer;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;

class IreeGrpcServingAutoConfigurationTests {

    private static final AutoConfigurations CONFIGURATIONS = AutoConfigurations.of(
            IreeAutoConfiguration.class,
            IreeHttpAutoConfiguration.class,
            IreeServingAutoConfiguration.class,
            IreeGrpcServingAutoConfiguration.class,
            SslAutoConfiguration.class,
            GrpcServerAutoConfiguration.class);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(CONFIGURATIONS)
            .withPropertyValues("iree.serving.enabled=true");

    @Test
    void servesWithoutAWebServer() {
        runner.withPropertyValues("spring.grpc.server.enabled=true", "spring.grpc.server.port=0")
                .run(context -> assertThat(context)
                        .hasSingleBean(OpenInferenceGrpcService.class)
                        .hasSingleBean(BodyLimits.class)
                        .hasSingleBean(GrpcServerLifecycle.class));
    }

    @Test
    void sharesTheLimitsOfHttp() {
        new WebApplicationContextRunner()
                .withConfiguration(CONFIGURATIONS)
                .withPropertyValues("iree.serving.enabled=true")
                .run(context -> assertThat(context)
                        .hasSingleBean(OpenInferenceGrpcService.class)
                        .hasSingleBean(BodyLimits.class));
    }

    @Test
    void optIn() {
        new ApplicationContextRunner()
                .withConfiguration(CONFIGURATIONS)
                .run(context -> assertThat(context).doesNotHaveBean(BindableService.class));
        runner.withPropertyValues("iree.serving.grpc.enabled=false")
                .run(context ->
                        assertThat(context).hasSingleBean(ServedModels.class).doesNotHaveBean(BindableService.class));
    }

    @Test
    void absentWithoutItsClasses() {
        runner.withClassLoader(new FilteredClassLoader("io.grpc"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("ireeOpenInferenceGrpcService"));
        runner.withClassLoader(new FilteredClassLoader("org.springframework.grpc"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("ireeOpenInferenceGrpcService"));
        runner.withClassLoader(new FilteredClassLoader("org.springframework.web"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("ireeOpenInferenceGrpcService"));
        runner.withClassLoader(new FilteredClassLoader("com.google.protobuf", "io.grpc.protobuf", "tools.jackson"))
                .run(context -> {
                    assertThat(context).hasSingleBean(OpenInferenceGrpcService.class);
                    assertThat(context.getBean(BindableService.class)
                                    .bindService()
                                    .getMethods())
                            .hasSizeGreaterThan(6);
                });
    }

    @Test
    void backsOffWhenUserDefinesTheBean() {
        runner.withBean("ireeGrpcServerCustomizer", ServerBuilderCustomizer.class, () -> _ -> {})
                .withBean("ireeNettyCustomizer", ServerBuilderCustomizer.class, () -> _ -> {})
                .run(context -> assertThat(context.getBeanNamesForType(ServerBuilderCustomizer.class))
                        .containsExactlyInAnyOrder("ireeGrpcServerCustomizer", "ireeNettyCustomizer"));
    }
}
