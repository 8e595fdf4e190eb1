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
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
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
    @ExtendWith(OutputCaptureExtension.class)
    void howLargeRequestsMayBeIsInTheLog(CapturedOutput output) {
        web.withPropertyValues("iree.http.max-in-flight-size=64MB", "iree.http.max-request-size=64MB")
                .run(context -> assertThat(report(output))
                        .contains("WARN", "at most 50331648 bytes", "67108864 of 'iree.http.max-request-size'")
                        .contains("67108864 allowed by 'iree.http.max-in-flight-size'; raise"));
        web.withPropertyValues("iree.http.max-in-flight-size=64MB")
                .run(context -> assertThat(report(output)).contains("INFO", "at most 50331648 bytes"));
        web.withPropertyValues("iree.http.max-in-flight-size=64MB", "iree.http.max-request-size=1MB")
                .run(context -> assertThat(report(output))
                        .contains("INFO", "at most 1048576 bytes, by 'iree.http.max-request-size'"));
    }

    private static String report(CapturedOutput output) {
        return output.getAll()
                .lines()
                .filter(line -> line.contains("requests of the open inference protocol"))
                .reduce("", (_, last) -> last);
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
    void backsOffWhenUserDefinesTheBean() {
        web.withBean(
                        "mine",
                        ServedModels.class,
                        () -> new ServedModels(
                                org.mockito.Mockito.mock(Programs.class), Map.of(), Map.of(), Map.of(), () -> true))
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
        web.withPropertyValues("iree.http.max-request-size=0B")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("iree.http.max-request-size"));
    }
}
