package io.github.iree4j.spring.autoconfigure.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpAutoConfiguration;
import io.github.iree4j.spring.serving.ModelRepositoryController;
import io.github.iree4j.spring.serving.OpenInferenceController;
import io.github.iree4j.spring.serving.ReactiveModelRepositoryController;
import io.github.iree4j.spring.serving.ReactiveOpenInferenceController;
import io.github.iree4j.spring.serving.ServedModels;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.web.servlet.DispatcherServlet;
import tools.jackson.databind.util.TokenBuffer;

class IreeServingAutoConfigurationTests {

    private static final AutoConfigurations CONFIGURATIONS = AutoConfigurations.of(
            IreeAutoConfiguration.class, IreeHttpAutoConfiguration.class, IreeServingAutoConfiguration.class);

    private final WebApplicationContextRunner web = new WebApplicationContextRunner()
            .withConfiguration(CONFIGURATIONS)
            .withPropertyValues("iree.serving.enabled=true");

    @Test
    void servesWhenEnabled() {
        web.run(context -> assertThat(context).hasSingleBean(OpenInferenceController.class));
    }

    @Test
    void servesOverWebFlux() {
        ReactiveWebApplicationContextRunner reactive = new ReactiveWebApplicationContextRunner()
                .withConfiguration(CONFIGURATIONS)
                .withPropertyValues("iree.serving.enabled=true");
        reactive.run(context -> assertThat(context)
                .hasSingleBean(ReactiveOpenInferenceController.class)
                .doesNotHaveBean(ReactiveModelRepositoryController.class)
                .doesNotHaveBean(OpenInferenceController.class));
        reactive.withPropertyValues("iree.serving.repository=true")
                .run(context -> assertThat(context)
                        .hasSingleBean(ReactiveModelRepositoryController.class)
                        .doesNotHaveBean(ModelRepositoryController.class));
        reactive.withClassLoader(new FilteredClassLoader(DispatcherServlet.class))
                .run(context -> assertThat(context).hasSingleBean(ReactiveOpenInferenceController.class));
        web.withClassLoader(new FilteredClassLoader("org.springframework.web.reactive", "reactor"))
                .run(context -> assertThat(context)
                        .hasSingleBean(OpenInferenceController.class)
                        .doesNotHaveBean(ReactiveOpenInferenceController.class));
    }

    @Test
    void repositoryIsDisabledByDefault() {
        web.run(context -> assertThat(context).doesNotHaveBean(ModelRepositoryController.class));
        web.withPropertyValues("iree.serving.repository=true")
                .run(context -> assertThat(context).hasSingleBean(ModelRepositoryController.class));
    }

    @Test
    void disabledByDefault() {
        new WebApplicationContextRunner()
                .withConfiguration(CONFIGURATIONS)
                .run(context -> assertThat(context)
                        .hasSingleBean(InvocationService.class)
                        .doesNotHaveBean(OpenInferenceController.class));
    }

    @Test
    void absentWithoutWebApplication() {
        new ApplicationContextRunner()
                .withConfiguration(CONFIGURATIONS)
                .withPropertyValues("iree.serving.enabled=true")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(OpenInferenceController.class));
    }

    @Test
    void worksWithoutSpringMvcAndJackson() {
        web.withClassLoader(new FilteredClassLoader(DispatcherServlet.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(OpenInferenceController.class));
        web.withClassLoader(new FilteredClassLoader(TokenBuffer.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(OpenInferenceController.class));
    }

    @Test
    void backsOffWhenUserDefinesOne() {
        web.withBean(
                        "mine",
                        ServedModels.class,
                        () -> new ServedModels(org.mockito.Mockito.mock(Programs.class), Map.of(), Map.of()))
                .run(context ->
                        assertThat(context).hasSingleBean(ServedModels.class).hasBean("mine"));
    }

    @Test
    void limitsOutOfRangeAreReported() {
        web.withPropertyValues("iree.serving.max-concurrent-requests=-1")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("iree.serving.max-concurrent-requests"));
        web.withPropertyValues("iree.serving.max-request-size=0B")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("iree.serving.max-request-size"));
    }
}
